package dev.tenon.nativelib;

import java.lang.invoke.MethodHandle;

/** The end of this process, whatever its native libraries do. */
public final class ProcessEnd {
    private static final MethodHandle ALARM = Downcalls.standard("alarm")
            .map(function -> Downcalls.handle(function, Downcalls.status(Downcalls.INT)))
            .orElse(null);

    private ProcessEnd() {}

    /**
     * Lets the system end this process after some seconds unless it has ended by then: what libraries do while a process exits may wait for a device for ever. By {@code alarm}; a program that handles that signal keeps its say. No-op
     * where the C library has none.
     */
    public static void within(int seconds) {
        if (ALARM == null) {
            return;
        }
        try {
            int _ = (int) ALARM.invokeExact(seconds);
        } catch (Throwable t) {
            throw Downcalls.rethrow(t);
        }
    }
}
