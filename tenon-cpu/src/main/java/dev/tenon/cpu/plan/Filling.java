package dev.tenon.cpu.plan;

import dev.tenon.core.lazy.Uninterrupted;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;

/**
 * A constant's form that is being made on another thread, while the plan that wants it goes on. Who needs it makes it
 * where no other thread has begun, so that it never waits for a thread that is not there.
 *
 * <p>Thread-safe.
 */
final class Filling {
    private final FutureTask<Void> task;

    private Filling(Consumer<MemorySegment> fill, MemorySegment memory) {
        task = new FutureTask<>(() -> fill.accept(memory), null);
    }

    /** Begins soon. */
    static Filling start(Consumer<MemorySegment> fill, MemorySegment memory) {
        Filling filling = new Filling(fill, memory);
        ForkJoinPool.commonPool().execute(filling.task);
        return filling;
    }

    /** Returns when the form is made, and throws what making it threw. */
    void await() {
        task.run(); // does nothing where another thread has begun
        Uninterrupted.run(() -> {
            try {
                task.get();
            } catch (ExecutionException e) {
                switch (e.getCause()) {
                    case RuntimeException thrown -> throw thrown;
                    case Error thrown -> throw thrown;
                    case null, default -> throw new IllegalStateException(e);
                }
            }
        });
    }

    /** Returns when nothing writes to the memory any more, whether or not the form could be made. */
    void end() {
        try {
            await();
        } catch (RuntimeException | Error _) { // told to those who await it
        }
    }
}
