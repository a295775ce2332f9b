package dev.tenon.core.error;

import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Reports a native library's call that failed: library, call with arguments, code name and the library's own text. */
public final class NativeException extends TenonException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String call;
    private final int status;

    public NativeException(String message) {
        this(message, null, 0);
    }

    public NativeException(String message, Throwable cause) {
        this(message, null, 0);
        initCause(cause);
    }

    private NativeException(String message, @Nullable String call, int status) {
        super(message, true);
        this.call = call;
        this.status = status;
    }

    /**
     * Returns a fault of a call that answered with a status.
     *
     * @param call the function's name
     * @param status the library's own number for the fault, not 0
     */
    public static NativeException of(String message, String call, int status) {
        return new NativeException(message, call, status);
    }

    /** Returns the name of the function that failed; empty where no single call did. */
    public Optional<String> call() {
        return Optional.ofNullable(call);
    }

    /** Returns the library's own number for the fault; empty where no single call failed. */
    public OptionalInt status() {
        return call == null ? OptionalInt.empty() : OptionalInt.of(status);
    }

    @Override
    TenonException located(String message) {
        return new NativeException(message, call, status);
    }
}
