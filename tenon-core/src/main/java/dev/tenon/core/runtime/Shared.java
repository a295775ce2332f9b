package dev.tenon.core.runtime;

import dev.tenon.core.ir.ConstantData;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** What a cache holds and runs use meanwhile: closed when the last of them lets go of it. Thread-safe. */
abstract class Shared implements AutoCloseable {
    /** The cache's hold, and one for each use. */
    private final AtomicInteger holds = new AtomicInteger(1);
    /** Whether its first use has ended, after which its cache has let go of others for it. */
    volatile boolean weighed;
    /** Whether its cache has let go of it. Guarded by the cache. */
    boolean evicted;

    /**
     * Begins a use, which {@link #leave} ends.
     *
     * @return false where nothing holds it any more, so that it is being closed
     */
    final boolean enter() {
        int now = holds.get();
        while (now > 0) {
            if (holds.compareAndSet(now, now + 1)) {
                return true;
            }
            now = holds.get();
        }
        return false;
    }

    /** Lets go. @return whether it was the last hold, so that the caller closes */
    final boolean leave() {
        return holds.decrementAndGet() == 0;
    }

    /** Adds the constants that were made for this one and exist as long as it does. */
    abstract void addConstants(Set<ConstantData> to);

    /** Whether {@link #addConstants} may give more at a later call. */
    boolean mayGrow() {
        return true;
    }

    /** Idempotent; a close that failed may be called again and goes on where it ended. */
    @Override
    public abstract void close();
}
