package dev.tenon.core.error;

/**
 * Something valid that this backend, operation or version does not do; the message names the node and the way round it.
 */
public final class UnsupportedException extends TenonException {
    private static final long serialVersionUID = 1L;

    public UnsupportedException(String message) {
        super(message);
    }

    public UnsupportedException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new UnsupportedException(message);
    }
}
