package dev.tenon.core.error;

/** Element types that do not fit an operation. */
public final class DTypeException extends TenonException {
    private static final long serialVersionUID = 1L;

    public DTypeException(String message) {
        super(message);
    }

    public DTypeException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new DTypeException(message);
    }
}
