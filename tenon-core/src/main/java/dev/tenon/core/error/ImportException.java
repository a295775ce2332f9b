package dev.tenon.core.error;

/** A model or tokenizer file that cannot be read: the message names the file and the node, tensor or offset. */
public final class ImportException extends TenonException {
    private static final long serialVersionUID = 1L;

    public ImportException(String message) {
        super(message);
    }

    public ImportException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new ImportException(message);
    }
}
