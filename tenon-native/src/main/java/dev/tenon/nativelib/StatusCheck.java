package dev.tenon.nativelib;

import dev.tenon.core.error.NativeException;
import java.util.Locale;
import java.util.function.IntFunction;

/**
 * The checked tier of a library whose functions return a status.
 *
 * @param library its name in messages
 * @param codeName a status's name, {@code CUDA_ERROR_INVALID_VALUE}; empty when the library does not know
 * @param text the library's own words for a status; empty when it has none
 */
public record StatusCheck(String library, IntFunction<String> codeName, IntFunction<String> text) {
    /**
     * @param call the call with its arguments as a format, {@code "cuMemAlloc(bytes=%d)"}
     * @throws NativeException unless the status is 0
     */
    public void check(int status, String call, Object... arguments) {
        if (status != 0) {
            throw NativeException.of(message(status, call, arguments), function(call), status);
        }
    }

    /** The function's name in a call with its arguments: {@code cuMemAlloc}. */
    public static String function(String call) {
        int arguments = call.indexOf('(');
        return arguments < 0 ? call : call.substring(0, arguments);
    }

    /** {@code cuMemAlloc(bytes=8) failed: CUDA_ERROR_INVALID_VALUE (1): invalid argument}. */
    @SuppressWarnings("AnnotateFormatMethod") // that annotation is a dependency
    public String message(int status, String call, Object... arguments) {
        String name = codeName.apply(status);
        String words = text.apply(status);
        return library + ": " + String.format(Locale.ROOT, call, arguments) + " failed: "
                + (name.isEmpty() ? "status" : name) + " (" + status + ")" + (words.isEmpty() ? "" : ": " + words);
    }
}
