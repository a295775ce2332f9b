package dev.tenon.core.runtime;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/** Makes each plan once, however many threads ask for it, and keeps the most recently used ones. Thread-safe. */
final class PlanCache<K, V> {
    private final int limit;
    private final Map<K, CompletableFuture<V>> entries = new LinkedHashMap<>(16, 0.75f, true);

    PlanCache(int limit) {
        this.limit = limit;
    }

    /** The value for a key; a maker that throws leaves nothing behind. */
    V get(K key, Supplier<V> make) {
        CompletableFuture<V> mine = new CompletableFuture<>();
        CompletableFuture<V> existing;
        synchronized (entries) {
            existing = entries.get(key);
            if (existing == null) {
                entries.put(key, mine);
                evict();
            }
        }
        if (existing == null) {
            make(key, mine, make);
        }
        CompletableFuture<V> entry = existing == null ? mine : existing;
        try {
            return entry.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }

    private void make(K key, CompletableFuture<V> entry, Supplier<V> make) {
        try {
            entry.complete(make.get());
        } catch (Throwable e) {
            synchronized (entries) {
                entries.remove(key, entry);
            }
            entry.completeExceptionally(e);
        }
    }

    private void evict() {
        while (entries.size() > limit) {
            entries.remove(entries.keySet().iterator().next());
        }
    }

    /** What is ready, the most recently used last. */
    List<V> values() {
        synchronized (entries) {
            return entries.values().stream()
                    .filter(entry -> entry.isDone() && !entry.isCompletedExceptionally())
                    .map(CompletableFuture::join)
                    .toList();
        }
    }
}
