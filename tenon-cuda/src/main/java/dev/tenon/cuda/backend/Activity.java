package dev.tenon.cuda.backend;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/** Whether runs are under way on a device, or plans for it are being made. Thread-safe. */
final class Activity {
    /**
     * Less than this is no rest: callers of changing sizes pass over the graph for some milliseconds between a run and
     * the next plan, which would wait for what is being timed.
     */
    static final long REST_NANOS = 10_000_000;

    /** Where one new size came others may follow: what is timed loads kernels, for which first runs would wait. */
    static final long REST_AFTER_PLAN_NANOS = 100_000_000;

    private final LongSupplier clock;
    private final AtomicInteger running = new AtomicInteger();
    private volatile long rests;

    Activity() {
        this(System::nanoTime);
    }

    /** @param clock in nanoseconds */
    Activity(LongSupplier clock) {
        this.clock = clock;
        this.rests = clock.getAsLong() + REST_NANOS;
    }

    void begin() {
        running.incrementAndGet();
    }

    /** Of a run. */
    void end() {
        end(REST_NANOS);
    }

    /** Of making a plan. */
    void endPlan() {
        end(REST_AFTER_PLAN_NANOS);
    }

    private void end(long pause) {
        long from = clock.getAsLong() + pause;
        synchronized (this) {
            if (from - rests > 0) {
                rests = from;
            }
        }
        running.decrementAndGet();
    }

    /** Whether nothing is under way, and has not been for a while. */
    boolean idle() {
        return running.get() == 0 && clock.getAsLong() - rests > 0;
    }
}
