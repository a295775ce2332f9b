package dev.tenon.core.ir;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A record class as the text form sees it: named attributes that can be read from a record, and a way to make one of
 * them.
 */
final class RecordForm {
    private static final ClassValue<RecordForm> FORMS = new ClassValue<>() {
        @Override
        protected RecordForm computeValue(Class<?> type) {
            return new RecordForm(type);
        }
    };

    private final Constructor<?> constructor;
    private final List<Attribute> attributes;

    /**
     * One component.
     *
     * @param usual what is meant where the text leaves the attribute out; null where it never does, or where null is
     */
    record Attribute(
            String name,
            Type type,
            Method accessor,
            @Nullable Object usual) {
        @Nullable
        Object of(Object owner) {
            try {
                return accessor.invoke(owner);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(accessor.toString(), e);
            }
        }
    }

    private RecordForm(Class<?> type) {
        RecordComponent[] components = type.getRecordComponents();
        try {
            constructor = type.getDeclaredConstructor(
                    Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(type.getName(), e);
        }
        List<Attribute> all = new ArrayList<>();
        for (RecordComponent component : components) {
            all.add(new Attribute(
                    Mnemonics.words(component.getName()),
                    component.getGenericType(),
                    component.getAccessor(),
                    usual(component.getType())));
        }
        attributes = List.copyOf(all);
    }

    static RecordForm of(Class<?> type) {
        return FORMS.get(type);
    }

    List<Attribute> attributes() {
        return attributes;
    }

    /**
     * The record of those values, one an attribute.
     *
     * @throws InvocationTargetException with what the constructor threw
     */
    Object make(@Nullable Object[] values) throws InvocationTargetException {
        try {
            return constructor.newInstance(values);
        } catch (InstantiationException | IllegalAccessException e) {
            throw new IllegalStateException(constructor.toString(), e);
        }
    }

    /** Zero, false, nothing in a list, and a record class's own constant NONE. */
    private static @Nullable Object usual(Class<?> type) {
        if (type == boolean.class) {
            return false;
        } else if (type == int.class) {
            return 0;
        } else if (type == long.class) {
            return 0L;
        } else if (type == double.class) {
            return 0.0;
        } else if (type == List.class) {
            return List.of();
        }
        return type.isRecord() ? none(type) : null;
    }

    private static @Nullable Object none(Class<?> type) {
        try {
            for (var field : type.getFields()) {
                if (field.getName().equals("NONE") && Modifier.isStatic(field.getModifiers())) {
                    return field.get(null);
                }
            }
            return null;
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(type.getName(), e);
        }
    }
}
