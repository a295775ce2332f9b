package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.tenon.cli.model.DefaultModel;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The command, run within this process.
 *
 * @param out what it printed
 * @param err what it said went wrong
 */
record Cli(int code, String out, String err) {
    static final Path MODELS = Path.of("target/dist/models");
    static final Path MINI_LM = MODELS.resolve("all-minilm-l6-v2.onnx");
    static final Path GOLDEN = Path.of("src/test/resources/golden");

    static Cli run(String... args) {
        System.setProperty(DefaultModel.PROPERTY, MODELS.toString());
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code;
        try (PrintWriter outWriter = new PrintWriter(out);
                PrintWriter errWriter = new PrintWriter(err)) {
            code = Main.execute(outWriter, errWriter, args);
        }
        return new Cli(code, out.toString(), err.toString());
    }

    Cli succeeds() {
        assertThat(err).isEmpty();
        assertThat(code).isZero();
        return this;
    }

    /** Exit code 1 and one line on standard error that says each of these. */
    Cli fails(String... words) {
        for (String word : words) {
            assertThat(err).contains(word);
        }
        assertThat(err.lines()).as(err).hasSize(1);
        assertThat(err).startsWith("tenon ").doesNotContain("unexpected", "Exception", "\tat ");
        assertThat(out).isEmpty();
        assertThat(code).isEqualTo(1);
        return this;
    }

    /** Exit code 2: the command itself was wrong. */
    Cli isMisused(String... words) {
        for (String word : words) {
            assertThat(err).contains(word);
        }
        assertThat(err).doesNotContain("Exception", "\tat ");
        assertThat(code).isEqualTo(2);
        return this;
    }

    /** Each line as a JSON object. */
    List<Map<String, Object>> objects() throws IOException {
        List<Map<String, Object>> objects = new ArrayList<>();
        for (String line : out.lines().toList()) {
            objects.add(object(line));
        }
        return objects;
    }

    @SuppressWarnings("unchecked") // an object's map has the names as keys
    static Map<String, Object> object(String json) throws IOException {
        return (Map<String, Object>) json(json);
    }

    static Object json(String json) throws IOException {
        try (JsonParser parser = new JsonFactory().createParser(json)) {
            parser.nextToken();
            Object value = value(parser);
            assertThat(parser.nextToken()).as("after the value").isNull();
            return value;
        }
    }

    private static Object value(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> {
                Map<String, Object> object = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    parser.nextToken();
                    object.put(name, value(parser));
                }
                yield object;
            }
            case START_ARRAY -> {
                List<Object> array = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    array.add(value(parser));
                }
                yield array;
            }
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            case VALUE_TRUE, VALUE_FALSE -> parser.getBooleanValue();
            default -> parser.getText();
        };
    }
}
