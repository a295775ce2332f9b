package dev.tenon.cuda.tuning;

import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Algorithms that problems of other sizes run by: a library takes a new size by the algorithm of one near it without
 * ranking its algorithms anew, and has its kernels loaded. Thread-safe.
 *
 * @param <K> kinds of problems, which differ in their size alone
 */
public final class Siblings<K> {
    /** Sizes that far apart, at most, share an algorithm until the fastest is known. */
    private static final long FACTOR = 4;
    /** Sizes that far apart, at most, are of one stream. */
    private static final long STREAM = 16;

    private final Map<K, NavigableMap<Long, String>> algorithms = new HashMap<>();

    /** Knows none. */
    public Siblings() {}

    /** Takes note of the algorithm that was chosen for a size; not of one that {@link #near} gave. */
    public synchronized void put(K kind, long size, String algorithm) {
        algorithms.computeIfAbsent(kind, _ -> new TreeMap<>()).put(size, algorithm);
    }

    /** The algorithm of the size that is nearest by its ratio; null where none is near. */
    public @Nullable String near(K kind, long size) {
        return nearest(kind, size, FACTOR);
    }

    /** The same of a size that a stream of sizes may have had before: its kernels are loaded, if for others. */
    public @Nullable String inStream(K kind, long size) {
        return nearest(kind, size, STREAM);
    }

    /** Whether an algorithm was chosen for a size that a stream of sizes may have had before. */
    public boolean isLater(K kind, long size) {
        return inStream(kind, size) != null;
    }

    private synchronized @Nullable String nearest(K kind, long size, long factor) {
        NavigableMap<Long, String> known = algorithms.get(kind);
        if (known == null) {
            return null;
        }
        Map.Entry<Long, String> below = known.floorEntry(size);
        Map.Entry<Long, String> above = known.ceilingEntry(size);
        double down = below == null ? Double.POSITIVE_INFINITY : (double) size / Math.max(1, below.getKey());
        double up = above == null ? Double.POSITIVE_INFINITY : (double) above.getKey() / Math.max(1, size);
        Map.Entry<Long, String> nearest = down <= up ? below : above;
        return nearest == null || Math.min(down, up) > factor ? null : nearest.getValue();
    }
}
