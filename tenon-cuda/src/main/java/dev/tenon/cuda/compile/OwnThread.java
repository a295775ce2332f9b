package dev.tenon.cuda.compile;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A call on a thread of its own, for native code that needs a deeper stack than the caller may have. */
final class OwnThread<T> implements Runnable {
    private final Supplier<T> call;
    private @Nullable T result;
    private @Nullable Throwable failure;

    private OwnThread(Supplier<T> call) {
        this.call = call;
    }

    /**
     * Calls on a daemon thread and waits for it, through interrupts. What the call throws is thrown here as it was.
     *
     * @param stackBytes the thread's stack
     */
    static <T> T call(String name, long stackBytes, Supplier<T> call) {
        OwnThread<T> body = new OwnThread<>(call);
        Thread thread =
                Thread.ofPlatform().name(name).daemon().stackSize(stackBytes).start(body);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return body.outcome();
    }

    /**
     * The thread's end is the signal, and neither it nor these assignments allocate: an exhausted heap leaves no caller
     * waiting.
     */
    @Override
    public void run() {
        try {
            result = call.get();
        } catch (Throwable e) {
            failure = e;
        }
    }

    private T outcome() {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
        return Objects.requireNonNull(result);
    }
}
