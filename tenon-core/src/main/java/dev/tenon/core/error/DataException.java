package dev.tenon.core.error;

/** A fault in the values of a run: an index out of range, an integer division by zero. */
public final class DataException extends TenonException {
    private static final long serialVersionUID = 1L;

    public DataException(String message) {
        super(message);
    }

    public DataException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new DataException(message);
    }
}
