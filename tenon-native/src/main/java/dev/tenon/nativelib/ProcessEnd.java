package dev.tenon.nativelib;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** The end of this process, whatever its native libraries do. */
public final class ProcessEnd {
    private static final long FLUSH_MILLIS = 1000;

    private ProcessEnd() {}

    /**
     * Lets the system end this process after some seconds unless it has ended by then: what libraries do while a
     * process exits may wait for a device for ever. By {@code alarm}; a program that handles that signal keeps its say.
     * No-op where the C library has none.
     */
    public static void within(int seconds) {
        Downcalls.standard("alarm").ifPresent(function -> call(function, Downcalls.status(Downcalls.INT), seconds));
    }

    /**
     * Lets this process end without the exit handlers and destructors of its native libraries once it does end: with
     * the exit code it is given, after Java's shutdown hooks, and with C's streams flushed now. For a process that
     * holds something which those handlers cannot bear. By {@code on_exit} with {@code _exit} as the handler, which
     * goes before all that were there earlier. No-op where the C library has none.
     */
    public static void withoutExitHandlers() {
        Optional<MemorySegment> end = Downcalls.standard("_exit");
        Optional<MemorySegment> register = Downcalls.standard("on_exit");
        if (end.isEmpty() || register.isEmpty()) {
            return;
        }
        Downcalls.standard("fflush").ifPresent(ProcessEnd::flush);
        call(
                register.get(),
                Downcalls.status(Downcalls.LONG, Downcalls.LONG),
                end.get().address(),
                0L);
    }

    /** On a thread of its own: it waits for the holder of a stream. */
    private static void flush(MemorySegment function) {
        Thread flushing =
                Thread.ofPlatform().daemon().start(() -> call(function, Downcalls.status(Downcalls.LONG), 0L));
        try {
            flushing.join(FLUSH_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void call(MemorySegment function, FunctionDescriptor descriptor, Object... arguments) {
        try {
            Downcalls.handle(function, descriptor).invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw Downcalls.rethrow(e);
        }
    }
}
