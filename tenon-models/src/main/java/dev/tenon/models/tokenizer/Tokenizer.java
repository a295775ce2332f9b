package dev.tenon.models.tokenizer;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.Require;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Text to token ids and back, as the {@code tokenizer.json} of a model says; ids are those that Hugging Face's
 * {@code tokenizers} gives.
 *
 * <p>Truncation is the file's, until {@link #withTruncation} or {@link #withoutTruncation} says otherwise. Padding is
 * to the longest text of a batch, whatever the file says, so that one text on its own gets none;
 * {@link #declaredPadding()} has the file's own, for {@link #withPadding}.
 *
 * <p>Text may hold anything that a {@code String} can; a lone surrogate counts as U+FFFD.
 *
 * <p><b>Thread safety:</b> a tokenizer is immutable and may be used by any number of threads at once.
 */
public interface Tokenizer {
    /** The most bytes that a {@code tokenizer.json} may have: 256 MiB. */
    int MAX_FILE_BYTES = 1 << 28;

    /**
     * Reads a {@code tokenizer.json} with a WordPiece model.
     *
     * @throws ImportException if the file is not what it should be, or has a part that is not supported
     * @throws IOException if the file cannot be read
     */
    static Tokenizer load(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(Require.nonNull(file, "file"))) {
            return TokenizerReader.read(String.valueOf(file.getFileName()), in);
        }
    }

    /** As {@link #load(Path)}, to the end of a stream, which stays open. */
    static Tokenizer load(InputStream in) throws IOException {
        return TokenizerReader.read("tokenizer.json", Require.nonNull(in, "in"));
    }

    /** As {@link #load(Path)}, from the file's bytes, which are not kept. */
    static Tokenizer load(byte[] json) {
        return TokenizerReader.read("tokenizer.json", Require.nonNull(json, "json"));
    }

    /** Encodes a text, with special tokens. */
    default Encoding encode(String text) {
        return encode(text, true);
    }

    /**
     * Encodes a text.
     *
     * @param specialTokens whether to add those of the model's template ({@code [CLS] … [SEP]}); those that stand in
     *     the text are found in either case
     * @throws ImportException if the text is too long and the truncation's strategy cannot shorten it
     */
    Encoding encode(String text, boolean specialTokens);

    /**
     * Encodes a text in as many parts as it needs, each of at most {@code maxLength} tokens with the special tokens
     * among them, whatever the truncation says. A part ends between words where it can. A text without tokens is one
     * part of special tokens.
     *
     * @throws dev.tenon.core.error.InputException if there is no room beside the special tokens
     */
    List<Encoding> encodeParts(String text, int maxLength);

    /** Encodes a pair of texts, with special tokens. */
    default Encoding encode(String first, String second) {
        return encode(first, second, true);
    }

    /**
     * Encodes a pair of texts, such as a question and a passage.
     *
     * @throws ImportException if the texts are too long and the truncation's strategy cannot shorten them
     */
    Encoding encode(String first, String second, boolean specialTokens);

    /** Encodes texts, with special tokens, and pads them to one length; no texts give a batch without rows. */
    TokenBatch encodeBatch(List<String> texts);

    /**
     * The text of ids, without special tokens; ids that are unknown are left out.
     *
     * <p>What normalisation removed does not come back.
     */
    default String decode(int... ids) {
        return decode(ids, true);
    }

    /** The text of ids, with or without special tokens. */
    String decode(int[] ids, boolean skipSpecialTokens);

    /** The number of tokens, those added to the model's included. */
    int vocabularySize();

    /** The token of an id, or empty. */
    Optional<String> idToToken(int id);

    /** The id of a token as it is spelt in the vocabulary ({@code ##ing}), or empty. */
    OptionalInt tokenToId(String token);

    /** How long encodings are shortened, or empty if they are not. */
    Optional<Truncation> truncation();

    /** How encodings are padded. */
    Padding padding();

    /** The padding that the file asks for, or empty. */
    Optional<Padding> declaredPadding();

    /**
     * This tokenizer with encodings of at most {@code maxLength} tokens, special tokens included, whatever the file
     * says; strategy and direction stay. The file does not know the most that the model takes: that is for the caller
     * to know.
     *
     * @throws dev.tenon.core.error.InputException if there is no room for the special tokens
     */
    Tokenizer withTruncation(int maxLength);

    /** This tokenizer with other truncation. */
    Tokenizer withTruncation(Truncation rules);

    /** This tokenizer with encodings as long as their texts are. */
    Tokenizer withoutTruncation();

    /** This tokenizer with other padding. */
    Tokenizer withPadding(Padding rules);
}
