package dev.tenon.cuda.compile;

import dev.tenon.core.error.ClosedException;
import dev.tenon.nativelib.ProcessEnd;
import java.util.function.Supplier;

/**
 * Counts the compilations that NVRTC is at. The library's exit handlers free what a compilation still uses, so a
 * process that ends in the middle of one would end by a signal: it ends without exit handlers then, with the exit code
 * that it
 * has. Thread-safe.
 */
final class NvrtcRuns {
    private static int running;
    private static boolean hooked;
    private static boolean ending;

    private NvrtcRuns() {}

    /** Calls a compilation. @throws ClosedException when the process is ending */
    static <T> T during(Supplier<T> compilation) {
        begin();
        try {
            return compilation.get();
        } finally {
            end();
        }
    }

    private static synchronized void begin() {
        if (ending) {
            throw new ClosedException("NVRTC: the process is ending");
        }
        if (!hooked) {
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(NvrtcRuns::exit, "tenon-nvrtc-exit"));
            } catch (IllegalStateException e) {
                throw new ClosedException("NVRTC: the process is ending");
            }
            hooked = true;
        }
        running++;
    }

    private static synchronized void end() {
        running--;
    }

    private static synchronized void exit() {
        ending = true;
        if (running > 0) {
            ProcessEnd.withoutExitHandlers();
        }
    }
}
