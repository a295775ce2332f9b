package dev.tenon.cuda.driver;

import org.jspecify.annotations.Nullable;

/**
 * The stream that this thread is capturing. What cannot be recorded is refused with its help, before the driver sees
 * it.
 */
final class Capturing {
    private static final ThreadLocal<CudaStream> STREAM = new ThreadLocal<>();

    private Capturing() {}

    static void begin(CudaStream stream) {
        STREAM.set(stream);
    }

    static void end() {
        STREAM.remove();
    }

    static @Nullable CudaStream here() {
        CudaStream stream = STREAM.get();
        return stream != null && stream.capturing() ? stream : null;
    }

    /** Breaks this thread's capture, if there is one. @throws dev.tenon.core.error.CaptureException naming the call */
    static void refuse(String call) {
        CudaStream stream = here();
        if (stream != null) {
            throw stream.breakCapture(call + " cannot be recorded");
        }
    }
}
