package dev.tenon.cuda.backend;

import java.util.concurrent.atomic.AtomicInteger;

/** Whether runs are under way on a device. Thread-safe. */
final class Activity {
    /** Less than this between runs is no rest. */
    private static final long REST_NANOS = 5_000_000;

    private final AtomicInteger running = new AtomicInteger();
    private volatile long ended = System.nanoTime();

    void begin() {
        running.incrementAndGet();
    }

    void end() {
        ended = System.nanoTime();
        running.decrementAndGet();
    }

    /** Whether nothing runs, and has not for a while. */
    boolean idle() {
        return running.get() == 0 && System.nanoTime() - ended > REST_NANOS;
    }
}
