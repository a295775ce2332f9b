package dev.tenon.core.error;

/** A run asked for with a wrong name, element type or shape; the message says what was expected. */
public final class InputException extends TenonException {
    private static final long serialVersionUID = 1L;

    public InputException(String message) {
        super(message);
    }

    public InputException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new InputException(message);
    }
}
