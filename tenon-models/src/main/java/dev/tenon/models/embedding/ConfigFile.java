package dev.tenon.models.embedding;

import dev.tenon.core.error.ImportException;
import dev.tenon.formats.json.JsonObject;
import dev.tenon.formats.json.JsonReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads small JSON files whose errors name the file. */
final class ConfigFile {
    /** The largest that is read: a tokenizer_config.json lists thousands of added tokens at times. */
    private static final int MAX_BYTES = 1 << 24;

    private ConfigFile() {}

    /** What {@code meaning} makes of the object in a file; null when there is no such file. */
    static <T> @Nullable T read(Path file, Function<JsonObject, @Nullable T> meaning) {
        return Files.isRegularFile(file) ? value(file, root -> meaning.apply(object(root))) : null;
    }

    /** What {@code meaning} makes of a file's value: an object, an array, … */
    static <T> @Nullable T value(Path file, Function<Object, @Nullable T> meaning) {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        } catch (IOException e) {
            throw ImportException.unreadable(file, e);
        }
        if (bytes.length > MAX_BYTES) {
            throw new ImportException(file + " has more than " + MAX_BYTES + " bytes");
        }
        try {
            JsonReader json = new JsonReader(bytes);
            Object root = json.readValue("$");
            json.end();
            return meaning.apply(root);
        } catch (ImportException e) {
            throw new ImportException(file + ", " + e.getMessage(), e);
        }
    }

    static JsonObject object(Object value) {
        if (value instanceof JsonObject object) {
            return object;
        }
        throw new ImportException("byte 0: expected an object");
    }
}
