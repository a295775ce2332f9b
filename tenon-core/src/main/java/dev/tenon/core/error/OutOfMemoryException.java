package dev.tenon.core.error;

/** Memory that could not be had: the message names the bytes asked for, the limit and the largest holders. The device stays usable. */
public final class OutOfMemoryException extends TenonException {
    private static final long serialVersionUID = 1L;

    public OutOfMemoryException(String message) {
        super(message);
    }

    public OutOfMemoryException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new OutOfMemoryException(message);
    }
}
