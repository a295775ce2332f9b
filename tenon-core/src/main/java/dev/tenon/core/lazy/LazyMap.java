package dev.tenon.core.lazy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes the value of each key once, however many threads ask for it, and keeps the most recently used ones.
 *
 * <p>A failure is not kept. Threads that waited for a value which failed with a {@link RuntimeException} get that
 * exception. Threads that waited for one which failed with an {@link Error} make the value themselves: an exhausted
 * heap, for one, is the misfortune of the thread that met it.
 *
 * <p>Thread-safe. No wait allocates memory, so that no thread is left waiting when the heap is exhausted.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class LazyMap<K, V> {
    private final int limit;
    private final Map<K, Entry<V>> entries = new LinkedHashMap<>(16, 0.75f, true);

    /** One key's value: on its way, made, or failed. */
    private static final class Entry<V> {
        private boolean ended;
        private @Nullable V value;
        private @Nullable Throwable failure;

        synchronized void end(@Nullable V made, @Nullable Throwable why) {
            ended = true;
            value = made;
            failure = why;
            notifyAll();
        }

        /** The value; null while it is on its way and when it failed. */
        synchronized @Nullable V value() {
            return value;
        }

        /** Waits for the value through interrupts. @return null when an error struck the thread that was to make it */
        synchronized @Nullable V await() {
            boolean interrupted = false;
            while (!ended) {
                try {
                    wait();
                } catch (InterruptedException _) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            if (failure instanceof RuntimeException exception) {
                throw exception;
            }
            return value;
        }
    }

    /** Makes a map that keeps everything. */
    public LazyMap() {
        this(Integer.MAX_VALUE);
    }

    /**
     * Makes a map that keeps the most recently used values.
     *
     * @param limit how many values to keep, at least 1
     */
    public LazyMap(int limit) {
        this.limit = limit;
    }

    /**
     * Returns the key's value, made by this thread if no other has made it or is making it. Throws what {@code make}
     * throws.
     */
    public V get(K key, Supplier<? extends V> make) {
        while (true) {
            Entry<V> entry;
            boolean mine = false;
            synchronized (entries) {
                entry = entries.get(key);
                if (entry == null) {
                    entry = new Entry<>();
                    entries.put(key, entry);
                    mine = true;
                    evict();
                }
            }
            V value = mine ? made(key, entry, make) : entry.await();
            if (value != null) {
                return value;
            }
        }
    }

    private V made(K key, Entry<V> entry, Supplier<? extends V> make) {
        try {
            V value = Objects.requireNonNull(make.get());
            entry.end(value, null);
            return value;
        } catch (Throwable e) {
            remove(key, entry);
            entry.end(null, e);
            throw e;
        }
    }

    private void remove(K key, Entry<V> entry) {
        synchronized (entries) {
            entries.remove(key, entry);
        }
    }

    private void evict() {
        while (entries.size() > limit) {
            entries.remove(entries.keySet().iterator().next());
        }
    }

    /** Forgets a key; threads that wait for its value still get it. */
    public void remove(K key) {
        synchronized (entries) {
            entries.remove(key);
        }
    }

    /** Forgets a value that is made. @return whether it was there */
    public boolean forget(V made) {
        synchronized (entries) {
            return entries.values().removeIf(entry -> made.equals(entry.value()));
        }
    }

    /** Whether the key's value is made. */
    public boolean has(K key) {
        Entry<V> entry;
        synchronized (entries) {
            entry = entries.get(key);
        }
        return entry != null && entry.value() != null;
    }

    /** Returns the values that are made, the most recently used last. */
    public List<V> values() {
        List<V> made = new ArrayList<>();
        synchronized (entries) {
            for (Entry<V> entry : entries.values()) {
                V value = entry.value();
                if (value != null) {
                    made.add(value);
                }
            }
        }
        return made;
    }

    /** Takes out everything, waiting for what is being made. Returns the values that were made. */
    public List<V> drain() {
        List<Entry<V>> all;
        synchronized (entries) {
            all = new ArrayList<>(entries.values());
            entries.clear();
        }
        List<V> made = new ArrayList<>();
        for (Entry<V> entry : all) {
            try {
                V value = entry.await();
                if (value != null) {
                    made.add(value);
                }
            } catch (RuntimeException _) {
                // the thread that was to make it has thrown it
            }
        }
        return made;
    }
}
