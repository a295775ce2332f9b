package dev.tenon.formats.json;

import dev.tenon.core.error.ImportException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An object of the file with its place in it; a field that is null counts as absent, and errors name the field. */
public final class JsonObject {
    private final String path;
    private final int offset;
    private final Map<String, Object> fields;

    /**
     * Creates an object of fields as {@link JsonReader#readValue} gives them; {@code path} and {@code offset} are its
     * place in messages.
     */
    public JsonObject(String path, int offset, Map<String, Object> fields) {
        this.path = path;
        this.offset = offset;
        this.fields = fields;
    }

    /** Returns an error that names this object's place and a field; an empty field is the object itself. */
    public ImportException error(String field, String message) {
        String name = path.isEmpty() ? field : field.isEmpty() ? path : path + "." + field;
        return new ImportException("object at byte " + offset + ": " + name + " " + message);
    }

    /** Returns whether a field is there and not null. */
    public boolean has(String field) {
        return get(field) != null;
    }

    /** Returns the names of the fields, in the file's order. */
    public Set<String> names() {
        return Collections.unmodifiableSet(fields.keySet());
    }

    /** Returns whether a field is a string. */
    public boolean isString(String field) {
        return get(field) instanceof String;
    }

    /** Returns whether a field is an object. */
    public boolean isObject(String field) {
        return get(field) instanceof JsonObject;
    }

    private @Nullable Object get(String field) {
        Object value = fields.get(field);
        return value instanceof JsonReader.Null ? null : value;
    }

    private <T> T require(String field, Class<T> type, String what) {
        Object value = get(field);
        if (value == null) {
            throw error(field, "is missing; it must be " + what);
        }
        if (!type.isInstance(value)) {
            throw error(field, "is " + describe(value) + "; it must be " + what);
        }
        return type.cast(value);
    }

    private static String describe(Object value) {
        if (value instanceof JsonObject) {
            return "an object";
        }
        if (value instanceof List) {
            return "an array";
        }
        String text = value.toString();
        return value instanceof String ? "'" + (text.length() > 40 ? text.substring(0, 40) + "…" : text) + "'" : text;
    }

    /** Returns a string. @throws ImportException when the field is absent or anything else; so do the methods below */
    public String string(String field) {
        return require(field, String.class, "a string");
    }

    /** Returns true or false. */
    public boolean bool(String field) {
        return require(field, Boolean.class, "true or false");
    }

    /** Returns true or false, or {@code ifAbsent}. */
    public boolean bool(String field, boolean ifAbsent) {
        return has(field) ? bool(field) : ifAbsent;
    }

    /** An integer of {@code min} to 2³¹ − 1. */
    public int integer(String field, int min) {
        long value = require(field, Long.class, "an integer");
        if (value < min || value > Integer.MAX_VALUE) {
            throw error(field, "is " + value + "; it must be in " + min + ".." + Integer.MAX_VALUE);
        }
        return (int) value;
    }

    /** Returns a number; whole numbers beyond 2⁵³ are rounded. */
    public double number(String field) {
        return require(field, Number.class, "a number").doubleValue();
    }

    /** Returns an object. */
    public JsonObject object(String field) {
        return require(field, JsonObject.class, "an object");
    }

    /** Returns an object, or null when the field is absent or null. */
    public @Nullable JsonObject objectOrNull(String field) {
        return has(field) ? object(field) : null;
    }

    /** An array of which each element is an object. */
    public List<JsonObject> objects(String field) {
        return list(field, JsonObject.class, "an array of objects");
    }

    /** Returns an array of which each element is a string. */
    public List<String> strings(String field) {
        return list(field, String.class, "an array of strings");
    }

    /** An array of integers of 0 to 2³¹ − 1. */
    public int[] ids(String field) {
        List<Long> values = list(field, Long.class, "an array of integers");
        int[] ids = new int[values.size()];
        for (int i = 0; i < ids.length; i++) {
            long value = values.get(i);
            if (value < 0 || value > Integer.MAX_VALUE) {
                throw error(field + "[" + i + "]", "is " + value + "; ids are in 0.." + Integer.MAX_VALUE);
            }
            ids[i] = (int) value;
        }
        return ids;
    }

    /** An array as it is. */
    public List<Object> array(String field) {
        return list(field, Object.class, "an array");
    }

    private <T> List<T> list(String field, Class<T> type, String what) {
        List<T> result = new ArrayList<>();
        for (Object element : require(field, List.class, what)) {
            if (!type.isInstance(element)) {
                throw error(field + "[" + result.size() + "]", "is " + describe(element) + "; it must be " + what);
            }
            result.add(type.cast(element));
        }
        return result;
    }

    /** The text of one of the given choices. */
    public String choice(String field, List<String> choices) {
        String value = string(field);
        if (!choices.contains(value)) {
            throw error(field, "is '" + value + "', which is not supported; supported: " + String.join(", ", choices));
        }
        return value;
    }
}
