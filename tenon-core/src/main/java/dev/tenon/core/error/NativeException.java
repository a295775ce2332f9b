package dev.tenon.core.error;

/** A native library's call that failed: library, call with arguments, code name and the library's own text. */
public final class NativeException extends TenonException {
    private static final long serialVersionUID = 1L;

    public NativeException(String message) {
        super(message, true);
    }

    public NativeException(String message, Throwable cause) {
        super(message, true);
        initCause(cause);
    }

    @Override
    TenonException located(String message) {
        return new NativeException(message);
    }
}
