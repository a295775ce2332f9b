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

    /** Makes a heap of the best of so many elements, at least k; the first has the number 0. */
    void fill(MemorySegment x, long first, long size) {
        for (long i = 0; i < k; i++) {
            Heap.set(heap, i, keys.key(x, first + i), i);
        }
        Heap.make(heap, k);
        int block = (int) (BLOCK_BYTES / keys.width());
        long i = k;
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
