package dev.tenon.models.tokenizer;

import dev.tenon.core.error.ImportException;
import dev.tenon.formats.json.JsonObject;
import dev.tenon.formats.json.JsonReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Builds a tokenizer from the bytes of a {@code tokenizer.json}, whose sections may come in any order. */
final class TokenizerReader {
    private final JsonReader json;
    private final Map<String, Object> modelFields = new LinkedHashMap<>();
    private @Nullable Vocabulary vocabulary;

    private TokenizerReader(byte[] bytes) {
        this.json = new JsonReader(bytes);
    }

    static Tokenizer read(String file, InputStream in) throws IOException {
        byte[] bytes = in.readNBytes(Tokenizer.MAX_FILE_BYTES + 1);
        if (bytes.length > Tokenizer.MAX_FILE_BYTES) {
            throw new ImportException(file + " has more than " + Tokenizer.MAX_FILE_BYTES + " bytes");
        }
        return read(file, bytes);
    }

    /** @param file stands before every message */
    static Tokenizer read(String file, byte[] bytes) {
        try {
            return new TokenizerReader(bytes).read();
        } catch (ImportException e) {
            throw new ImportException(file + ", " + e.getMessage(), e);
        }
    }

    private Tokenizer read() {
        Map<String, Object> fields = new LinkedHashMap<>();
        JsonObject root = new JsonObject("", 0, fields);
        JsonObject model = null;
        json.beginObject();
        String key = json.nextKey(true);
        for (; key != null; key = json.nextKey(false)) {
            if (fields.containsKey(key) || (model != null && key.equals("model"))) {
                throw json.error("the key '" + key + "' is there twice");
            }
            if (key.equals("model") && json.peek() == '{') {
                model = readModel();
            } else {
                fields.put(key, json.readValue(key));
            }
        }
        json.end();
        if (root.has("version") && !root.string("version").equals("1.0")) {
            throw root.error("version", "is '" + root.string("version") + "', which is not supported; supported: 1.0");
        }
        if (model == null) {
            throw root.error("model", "is missing; it must be an object");
        }
        WordPiece wordPiece = wordPiece(model);
        Normalizer normalizer = NormalizerReader.read(root.objectOrNull("normalizer"));
        AddedVocabulary added =
                new AddedVocabulary(SettingsReader.addedTokens(root), wordPiece.vocabulary(), normalizer);
        PostProcessor postProcessor = PostProcessorReader.read(root.objectOrNull("post_processor"));
        Truncation truncation = SettingsReader.truncation(root.objectOrNull("truncation"));
        if (truncation != null && truncation.maxLength() < postProcessor.added(false)) {
            throw root.error(
                    "truncation.max_length",
                    "is " + truncation.maxLength() + ", which is less than the " + postProcessor.added(false)
                            + " special tokens");
        }
        return new WordPieceTokenizer(
                added,
                normalizer,
                PreTokenizerReader.read(root.objectOrNull("pre_tokenizer")),
                wordPiece,
                postProcessor,
                SettingsReader.decoder(root.objectOrNull("decoder")),
                SettingsReader.padding(root.objectOrNull("padding")),
                truncation);
    }

    /** Reads the model, of which the vocabulary does not become a tree: it is nearly all of the file. */
    private JsonObject readModel() {
        int start = json.offset();
        json.beginObject();
        String key = json.nextKey(true);
        for (; key != null; key = json.nextKey(false)) {
            if (modelFields.containsKey(key) || (vocabulary != null && key.equals("vocab"))) {
                throw json.error("the key '" + key + "' is there twice");
            }
            if (key.equals("vocab") && json.peek() == '{') {
                vocabulary = readVocabulary();
            } else {
                modelFields.put(key, json.readValue("model.".concat(key)));
            }
        }
        return new JsonObject("model", start, modelFields);
    }

    private Vocabulary readVocabulary() {
        Vocabulary.Builder builder = new Vocabulary.Builder();
        json.beginObject();
        String token = json.nextKey(true);
        for (; token != null; token = json.nextKey(false)) {
            builder.add(token, json.readId("the id in model.vocab", token));
        }
        return builder.build();
    }

    private WordPiece wordPiece(JsonObject model) {
        // files older than the type field exist, and have WordPiece's fields
        if (model.has("type") && !model.string("type").equals("WordPiece")) {
            throw model.error(
                    "type", "is '" + model.string("type") + "', which is not supported; supported: WordPiece");
        }
        if (vocabulary == null) {
            model.object("vocab");
            throw model.error("vocab", "is missing; it must be an object");
        }
        return new WordPiece(
                vocabulary,
                model.string("unk_token"),
                model.string("continuing_subword_prefix"),
                model.integer("max_input_chars_per_word", 0));
    }
}
