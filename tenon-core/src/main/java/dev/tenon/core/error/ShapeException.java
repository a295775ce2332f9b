package dev.tenon.core.error;

/** Shapes or axes that do not fit an operation. */
public final class ShapeException extends TenonException {
    private static final long serialVersionUID = 1L;

    public ShapeException(String message) {
        super(message);
    }

    public ShapeException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new ShapeException(message);
    }
}
