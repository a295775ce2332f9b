package dev.tenon.models.tokenizer;

import dev.tenon.formats.json.JsonObject;
import dev.tenon.formats.json.JsonReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The tokenizer of all-MiniLM-L6-v2 and the goldens made with it. */
final class MiniLm {
    private static final byte[] JSON = resource("/all-minilm-l6-v2-tokenizer.json");
    /** As the file says: truncated to 128 tokens. */
    static final Tokenizer TOKENIZER = Tokenizer.load(JSON);

    static final Tokenizer UNLIMITED = TOKENIZER.withoutTruncation();

    private MiniLm() {}

    static byte[] json() {
        return JSON.clone();
    }

    static byte[] resource(String name) {
        try (InputStream in = MiniLm.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("no resource " + name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A golden file as {@code {"rows": [...]}} or as it is. */
    static JsonObject golden(String name) {
        Object value = new JsonReader(resource("/tokenizer/" + name)).readValue(name);
        return value instanceof JsonObject object ? object : new JsonObject(name, 0, java.util.Map.of("rows", value));
    }
}
