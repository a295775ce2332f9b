package dev.tenon.cpu.keys;

import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.loops.Vectors;
import java.lang.foreign.MemorySegment;

/** What looks for good elements: those with large {@link Keys}. */
public final class KeyLoops {
    /** Blocks that are read side by side. */
    public static final int BLOCKS = 4;

    /** Bytes of what {@link #largest} finds. */
    public static final long FOUND_BYTES = 8L * BLOCKS;

    private KeyLoops() {}

    private static boolean byVectors(Keys keys, MemorySegment x, int n) {
        return Vectors.available()
                && n >= VectorKeys.least(keys.width())
                && Segments.isNative(x)
                && KeyHotLoops.get().of(keys.width()).ready();
    }

    /**
     * Writes the canonical largest keys of {@link #BLOCKS} blocks, as longs.
     *
     * @param first of the elements of the first block
     * @param n elements of each, at least one
     * @param apart elements from block to block
     * @param found memory that no file is mapped to, outside the heap
     */
    public static void largest(
            Keys keys, MemorySegment x, long first, int n, long apart, MemorySegment found, long at) {
        int width = keys.width();
        if (byVectors(keys, x, n)) {
            VectorKeys.largest(keys, x, first * width, n, apart * width, found, at);
        } else {
            plainLargest(keys, x, first * width, n, apart * width, found, at);
        }
        for (int block = 0; block < BLOCKS; block++) {
            found.set(Raw.I64, at + 8L * block, keys.canonical(found.get(Raw.I64, at + 8L * block)));
        }
    }

    static void plainLargest(Keys keys, MemorySegment x, long at, int n, long apart, MemorySegment to, long toAt) {
        for (int block = 0; block < BLOCKS; block++) {
            to.set(Raw.I64, toAt + 8L * block, PlainKeys.largest(keys, x, at + block * apart, n));
        }
    }

    /** The first of n elements, from one on, that is better than one of that canonical key; n without one. */
    public static int better(Keys keys, MemorySegment x, long first, int from, int n, long than) {
        return from >= n ? n : next(keys, x, first, from, n, than);
    }

    /** Which of n elements is the first whose canonical key is that, or the last; none has a better one. */
    public static int find(Keys keys, MemorySegment x, long first, int n, long best, boolean last) {
        if (!last) {
            long worse = keys.worse(best);
            return worse == best ? 0 : next(keys, x, first, 0, n, worse);
        }
        int i = n - 1;
        while (i > 0 && keys.key(x, first + i) != best) {
            i--;
        }
        return i;
    }

    private static int next(Keys keys, MemorySegment x, long first, int from, int n, long above) {
        return byVectors(keys, x, n)
                ? VectorKeys.next(keys, x, first * keys.width(), from, n, above)
                : PlainKeys.next(keys, x, first * keys.width(), from, n, above);
    }
}
