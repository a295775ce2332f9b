package dev.tenon.models.tokenizer;

/**
 * A {@code tokenizer.json} that cannot be used, or a text that cannot be encoded as its settings ask.
 *
 * <p>The message names the field and, where the file is at fault, the byte offset into it.
 */
public final class TokenizerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Makes an exception with a message for the person who chose the file. */
    public TokenizerException(String message) {
        super(message);
    }
}
