package dev.tenon.core.runtime;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.lazy.LazyMap;
import dev.tenon.core.options.CompileOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Plans by what they were made for, each made once. The least recently used ones go where there are too many, or where
 * the constants made for them take too many bytes; the newest one stays whatever it takes. One that goes is closed at
 * once, or by the last run that uses it. Thread-safe.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the plans
 */
final class SharedCache<K, V extends Shared> implements AutoCloseable {
    private final int most;
    private final long mostBytes;
    private final ModelEvents events;
    private final LazyMap<K, V> made = new LazyMap<>();
    /** Of the plans whose first use has ended. Guarded by itself. */
    private final HeldBytes held = new HeldBytes();
    /** Evicted plans whose close failed. Guarded by itself. */
    private final List<V> unclosed = new ArrayList<>();

    SharedCache(CompileOptions options, ModelEvents events) {
        this.events = events;
        most = options.maxPlans();
        mostBytes = options.maxPlanBytes();
    }

    /**
     * Returns the key's plan and makes it on first use. It is in use until {@link #release}. Throws what {@code make}
     * throws.
     */
    V acquire(K key, Supplier<? extends V> make) {
        V value = made.get(key, make);
        while (!value.enter()) { // evicted in between
            value = made.get(key, make);
        }
        return value;
    }

    /**
     * Ends a use. After the first one, which has made all that the plan needs, others go: what they share with it
     * stays.
     */
    void release(V value) {
        try {
            if (!value.weighed) {
                value.weighed = true;
                trim(value);
            }
        } finally {
            leave(value);
        }
    }

    private void leave(V value) {
        if (value.leave()) {
            closeEvicted(value);
        }
    }

    /** Those that are made, the most recently used last. */
    List<V> values() {
        return made.values();
    }

    private void trim(V newest) {
        List<V> gone = new ArrayList<>();
        synchronized (held) {
            if (newest.evicted) {
                return;
            }
            held.add(newest);
            List<V> all = made.values();
            int kept = all.size();
            for (int i = 0; i < all.size() && (kept > most || held.beside(newest) > mostBytes); i++) {
                V value = all.get(i);
                if (!value.equals(newest)) {
                    value.evicted = true;
                    held.remove(value);
                    gone.add(value);
                    kept--;
                }
            }
        }
        gone.forEach(this::evict);
    }

    private void evict(V value) {
        if (made.forget(value)) { // the close of the cache may have taken it
            events.evicted();
            leave(value);
        }
    }

    /**
     * A failure does not touch the run that happens to evict: the plan is closed with the next one that goes, or with
     * the cache, which says what failed.
     */
    private void closeEvicted(V value) {
        synchronized (unclosed) {
            unclosed.add(value);
            try {
                closeUnclosed();
            } catch (RuntimeException | Error e) {
                System.getLogger("dev.tenon")
                        .log(
                                System.Logger.Level.WARNING,
                                "an evicted plan was not closed; the next eviction or the model's close tries again",
                                e);
            }
        }
    }

    private void closeUnclosed() {
        Closing closing = new Closing();
        closing.each(unclosed, Shared::close);
        closing.end();
    }

    /**
     * Closes all plans; none is in use or made any more. Idempotent; a close that failed may be called again and goes
     * on where it ended.
     */
    @Override
    public void close() {
        synchronized (unclosed) {
            unclosed.addAll(made.drain());
            synchronized (held) {
                held.clear();
            }
            closeUnclosed();
        }
    }
}
