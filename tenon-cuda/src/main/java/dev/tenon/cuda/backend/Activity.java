package dev.tenon.cuda.backend;

import java.util.concurrent.atomic.AtomicInteger;

/** Whether runs are under way on a device, or plans for it are being made. Thread-safe. */
final class Activity {
    /**
     * Less than this is no rest: callers of changing sizes pass over the graph for some milliseconds between a run and
     * the next plan, which would wait for what is being timed.
     */
    private static final long REST_NANOS = 10_000_000;

    private final AtomicInteger running = new AtomicInteger();
    private volatile long ended = System.nanoTime();

    void begin() {
        running.incrementAndGet();
    }

    void end() {
        ended = System.nanoTime();
        running.decrementAndGet();
    }

    /** Whether nothing is under way, and has not been for a while. */
    boolean idle() {
        return running.get() == 0 && System.nanoTime() - ended > REST_NANOS;
    }
}
