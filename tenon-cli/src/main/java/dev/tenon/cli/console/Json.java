package dev.tenon.cli.console;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;

/** One JSON object a line. */
public final class Json {
    private static final JsonFactory FACTORY = new JsonFactory();

    private Json() {}

    /**
     * Prints an object whose values are numbers, strings, booleans, arrays of floats, maps and iterables of such; null
     * values are left out.
     */
    public static void print(PrintWriter out, Map<String, ?> object) {
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = FACTORY.createGenerator(text)) {
            write(generator, object);
        } catch (IOException e) {
            throw new IllegalStateException(e); // a string writer does not fail
        }
        out.println(text);
    }

    private static void write(JsonGenerator generator, Object value) throws IOException {
        switch (value) {
            case Map<?, ?> map -> {
                generator.writeStartObject();
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    if (entry.getValue() != null) {
                        generator.writeFieldName(String.valueOf(entry.getKey()));
                        write(generator, entry.getValue());
                    }
                }
                generator.writeEndObject();
            }
            case Iterable<?> all -> {
                generator.writeStartArray();
                for (Object one : all) {
                    write(generator, one);
                }
                generator.writeEndArray();
            }
            case float[] floats -> {
                generator.writeStartArray();
                for (float one : floats) {
                    generator.writeNumber(one);
                }
                generator.writeEndArray();
            }
            case Float one -> generator.writeNumber(one);
            case Double one -> generator.writeNumber(one);
            case Integer one -> generator.writeNumber(one);
            case Long one -> generator.writeNumber(one);
            case Boolean one -> generator.writeBoolean(one);
            default -> generator.writeString(value.toString());
        }
    }
}
