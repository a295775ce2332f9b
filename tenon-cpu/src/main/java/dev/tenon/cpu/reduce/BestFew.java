package dev.tenon.cpu.reduce;

import dev.tenon.cpu.keys.KeyLoops;
import dev.tenon.cpu.keys.Keys;
import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;

/**
 * The best k of elements that lie in order, in a heap: only blocks whose best is better than the worst of those are
 * looked through.
 *
 * @param heap memory of k entries
 * @param found memory of {@link KeyLoops#FOUND_BYTES} from that place on
 */
record BestFew(Keys keys, long k, MemorySegment heap, MemorySegment found, long foundAt) {
    /** Of a block. */
    private static final long BLOCK_BYTES = 4 << 10;

    /** Of a lane's begin: how many, and the elements of one. */
    private static final int MOST_PARTS = 4096;

    private static final int LEAST_PART = 16;
    private static final int PART = 1024;

    /** Makes a heap of the best of so many elements, at least k; the first has the number 0. */
    void fill(MemorySegment x, long first, long size) {
        long i = begin(x, first, size);
        int block = (int) (BLOCK_BYTES / keys.width());
        while (i < size) {
            if (size - i < (long) KeyLoops.BLOCKS * block) {
                int n = (int) Math.min(block, size - i);
                look(x, first, i, n);
                i += n;
                continue;
            }
            KeyLoops.largest(keys, x, first + i, block, block, found, foundAt);
            for (int which = 0; which < KeyLoops.BLOCKS; which++) {
                if (found.get(Raw.I64, foundAt + 8L * which) > worst()) {
                    look(x, first, i + (long) which * block, block);
                }
            }
            i += (long) KeyLoops.BLOCKS * block;
        }
    }

    /**
     * Fills the heap with the first k elements, or with places that k elements at least will take: the worst of the
     * best of k parts is not better than the worst of the best k. Returns how many elements were taken.
     */
    private long begin(MemorySegment x, long first, long size) {
        int parts = (int) Math.min(MOST_PARTS, Math.ceilDiv(2 * k, (long) KeyLoops.BLOCKS) * KeyLoops.BLOCKS);
        int part = (int) Math.min(size / parts, PART);
        long worse = 0;
        boolean known = parts >= k && part >= LEAST_PART;
        if (known) {
            long worst = worstOfParts(x, first, parts, part);
            worse = keys.worse(worst);
            known = worse != worst;
        }
        for (long i = 0; i < k; i++) {
            Heap.set(heap, i, known ? worse : keys.key(x, first + i), known ? Long.MAX_VALUE : i);
        }
        if (known) {
            return 0;
        }
        Heap.make(heap, k);
        return k;
    }

    private long worstOfParts(MemorySegment x, long first, int parts, int part) {
        for (long i = 0; i < k; i++) {
            Heap.set(heap, i, keys.least(), i);
        }
        for (int at = 0; at < parts; at += KeyLoops.BLOCKS) {
            KeyLoops.largest(keys, x, first + (long) at * part, part, part, found, foundAt);
            for (int which = 0; which < KeyLoops.BLOCKS; which++) {
                long key = found.get(Raw.I64, foundAt + 8L * which);
                if (key > worst()) {
                    Heap.sink(heap, 0, k, key, 0);
                }
            }
        }
        return worst();
    }

    private long worst() {
        return heap.get(Raw.I64, 0);
    }

    /** An equal key loses: its index is higher than all in the heap. */
    private void look(MemorySegment x, long first, long from, int n) {
        long begin = first + from;
        int at = KeyLoops.better(keys, x, begin, 0, n, worst());
        while (at < n) {
            Heap.sink(heap, 0, k, keys.key(x, begin + at), from + at);
            at = KeyLoops.better(keys, x, begin, at + 1, n, worst());
        }
    }

    /** Takes the entries of another heap, whose elements begin at that number. */
    void join(MemorySegment other, long entries, long begin) {
        for (long i = 0; i < entries; i++) {
            long key = other.get(Raw.I64, i * Heap.ENTRY);
            long index = other.get(Raw.I64, i * Heap.ENTRY + 8) + begin;
            if (Heap.isWorse(worst(), heap.get(Raw.I64, 8), key, index)) {
                Heap.sink(heap, 0, k, key, index);
            }
        }
    }
}
