package dev.tenon.cuda.driver;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Counts the calls in flight in something that is closed once, so that closing waits for them. */
final class CallGate {
    private static final long CLOSED = Long.MIN_VALUE;
    private static final long PAUSE_NANOS = 20_000;

    private final AtomicLong state = new AtomicLong();

    /** @return false when closed; else {@link #exit} must follow */
    boolean enter() {
        if (state.incrementAndGet() > 0) {
            return true;
        }
        state.decrementAndGet();
        return false;
    }

    void exit() {
        state.decrementAndGet();
    }

    boolean closed() {
        return state.get() < 0;
    }

    /**
     * Refuses new calls and waits until those in flight have ended, or are given up.
     *
     * @return true for the one call that closed
     */
    boolean close(BooleanSupplier givenUp) {
        long before = state.getAndUpdate(now -> now < 0 ? now : now + CLOSED);
        if (before < 0) {
            return false;
        }
        // a refused enter() may show up here for a moment, hence not just == CLOSED
        while (state.get() != CLOSED && !givenUp.getAsBoolean()) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }
}
