package dev.tenon.core.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for states that other threads bring about, so that no test depends on how long they take. */
public final class Await {
    private static final long LIMIT_NANOS = Duration.ofSeconds(60).toNanos();
    private static final long PAUSE_NANOS = 200_000;

    private Await() {}

    /**
     * Returns when a condition holds.
     *
     * @param what names it
     * @throws AssertionError when it does not within a minute
     */
    public static void until(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > LIMIT_NANOS) {
                throw new AssertionError("waited a minute for this: " + what);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Returns when a thread waits for something. @throws AssertionError when it ends, or does not within a minute */
    public static void waiting(Thread thread) {
        until(thread.getName() + " waits", () -> switch (thread.getState()) {
            case BLOCKED, WAITING, TIMED_WAITING -> true;
            case NEW, RUNNABLE -> false;
            case TERMINATED -> throw new AssertionError(thread.getName() + " has ended");
        });
    }

    /** Returns when a thread has ended. @throws AssertionError when it does not within a minute */
    public static void ended(Thread thread) {
        until(thread.getName() + " ends", () -> !thread.isAlive());
    }
}
