package dev.tenon.core.lazy;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Makes what only a class initialiser can hold: a constant that compiled code folds, such as a handle of a native
 * function. It waits for memory where the heap is exhausted, since a failure would make the class unusable for the rest
 * of the process.
 *
 * <p>Thread-safe.
 */
public final class Patience {
    private static final int ATTEMPTS = 600;
    private static final long PAUSE_NANOS = 50_000_000;

    private Patience() {}

    /**
     * Makes a value, again and again for half a minute while the heap is exhausted. An interrupt does not shorten the
     * wait and stays set.
     *
     * @throws OutOfMemoryError when there was no memory in all that time
     */
    public static <T> T make(Supplier<T> make) {
        return make(make, ATTEMPTS, PAUSE_NANOS);
    }

    static <T> T make(Supplier<T> make, int attempts, long pauseNanos) {
        boolean interrupted = false;
        try {
            for (int attempt = 1; ; attempt++) {
                try {
                    return make.get();
                } catch (OutOfMemoryError e) {
                    if (attempt == attempts) {
                        throw e;
                    }
                    interrupted |= pause(pauseNanos);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Waits through interrupts.
     *
     * @return whether there was one, which is cleared: a set one ends each parking at once
     */
    private static boolean pause(long nanos) {
        boolean interrupted = false;
        long start = System.nanoTime();
        for (long left = nanos; left > 0; left = nanos - (System.nanoTime() - start)) {
            LockSupport.parkNanos(left);
            interrupted |= Thread.interrupted();
        }
        return interrupted;
    }
}
