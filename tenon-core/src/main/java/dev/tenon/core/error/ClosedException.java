package dev.tenon.core.error;

/** Use of something that was closed. */
public final class ClosedException extends TenonException {
    private static final long serialVersionUID = 1L;

    public ClosedException(String message) {
        super(message);
    }

    public ClosedException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new ClosedException(message);
    }
}
