package dev.tenon.core.lazy;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Makes what only a class initialiser can hold: a constant that compiled code folds, as handles of native functions are. Where the heap is exhausted it waits for memory, since a failure would make the class unusable for good.
 *
 * <p>Thread-safe.
 */
public final class Patience {
    private static final int ATTEMPTS = 600;
    private static final long PAUSE_NANOS = 50_000_000;

    private Patience() {}

    /**
     * Makes a value, again and again for half a minute while the heap is exhausted.
     *
     * @throws OutOfMemoryError when there was no memory in all that time
     */
    public static <T> T make(Supplier<T> make) {
        for (int attempt = 1; ; attempt++) {
            try {
                return make.get();
            } catch (OutOfMemoryError e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }
}
