package dev.tenon.core.runtime;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.lazy.LazyMap;
import dev.tenon.core.options.CompileOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
    private final LazyMap<K, V> made = new LazyMap<>();
    /** Evicted plans whose close failed. Guarded by itself. */
    private final List<V> unclosed = new ArrayList<>();

    SharedCache(CompileOptions options) {
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
        List<V> all = made.values();
        if (all.size() == 1) {
            return;
        }
        Set<ConstantData> seen = new HashSet<>();
        newest.addConstants(seen);
        long bytes = 0;
        int kept = 1;
        for (V value : all.reversed()) {
            if (value.equals(newest)) {
                continue;
            }
            bytes += heldBeyond(seen, value);
            if (kept < most && bytes <= mostBytes) {
                kept++;
            } else {
                evict(value);
            }
        }
    }

    /** The bytes of a plan's constants that are not among those seen, which they are from now on. */
    private static long heldBeyond(Set<ConstantData> seen, Shared value) {
        Set<ConstantData> own = new HashSet<>(4); // most plans have none
        value.addConstants(own);
        long bytes = 0;
        for (ConstantData constant : own) {
            if (seen.add(constant)) {
                bytes += constant.heldBytes();
            }
        }
        return bytes;
    }

    private void evict(V value) {
        if (made.forget(value)) { // of two threads that evict it, one lets go
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
            closeUnclosed();
        }
    }
}
