package dev.tenon.nativelib;

import java.lang.invoke.MethodHandle;

/** The end of this process, whatever its native libraries do. */
public final class ProcessEnd {
    private ProcessEnd() {}

    /**
     * Lets the system end this process after some seconds unless it has ended by then: what libraries do while a process exits may wait for a device for ever. By {@code alarm}; a program that handles that signal keeps its say. No-op
     * where the C library has none.
     */
    public static void within(int seconds) {
        Downcalls.standard("alarm").ifPresent(function -> {
            MethodHandle alarm = Downcalls.handle(function, Downcalls.status(Downcalls.INT));
            try {
                int _ = (int) alarm.invokeExact(seconds);
            } catch (Throwable e) {
                throw Downcalls.rethrow(e);
            }
        });
    }
}
