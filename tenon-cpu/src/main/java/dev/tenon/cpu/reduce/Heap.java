package dev.tenon.cpu.reduce;

import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;

/**
 * Heaps of entries in memory, the worst on top: the one of the least key, of equals the one of the highest index. An
 * entry is its key, then its index.
 */
public final class Heap {
    public static final long ENTRY = 16;

    private Heap() {}

    public static void set(MemorySegment heap, long place, long key, long index) {
        heap.set(Raw.I64, place * ENTRY, key);
        heap.set(Raw.I64, place * ENTRY + 8, index);
    }

    /** Makes a heap of entries in any order. */
    public static void make(MemorySegment heap, long size) {
        for (long i = size / 2 - 1; i >= 0; i--) {
            sink(heap, i, size, heap.get(Raw.I64, i * ENTRY), heap.get(Raw.I64, i * ENTRY + 8));
        }
    }

    /** Leaves a heap of one entry less. */
    public static void removeTop(MemorySegment heap, long size) {
        long moved = (size - 1) * ENTRY;
        sink(heap, 0, size - 1, heap.get(Raw.I64, moved), heap.get(Raw.I64, moved + 8));
    }

    /** The index of the top. */
    public static long topIndex(MemorySegment heap) {
        return heap.get(Raw.I64, 8);
    }

    /** Puts an entry where it belongs at or below a place, the worst entry on top. */
    static void sink(MemorySegment heap, long place, long size, long key, long index) {
        long at = place;
        while (true) {
            long child = 2 * at + 1;
            if (child >= size) {
                break;
            }
            long childKey = heap.get(Raw.I64, child * ENTRY);
            long childIndex = heap.get(Raw.I64, child * ENTRY + 8);
            if (child + 1 < size) {
                long otherKey = heap.get(Raw.I64, child * ENTRY + ENTRY);
                long otherIndex = heap.get(Raw.I64, child * ENTRY + ENTRY + 8);
                if (isWorse(otherKey, otherIndex, childKey, childIndex)) {
                    child++;
                    childKey = otherKey;
                    childIndex = otherIndex;
                }
            }
            if (!isWorse(childKey, childIndex, key, index)) {
                break;
            }
            heap.set(Raw.I64, at * ENTRY, childKey);
            heap.set(Raw.I64, at * ENTRY + 8, childIndex);
            at = child;
        }
        heap.set(Raw.I64, at * ENTRY, key);
        heap.set(Raw.I64, at * ENTRY + 8, index);
    }

    static boolean isWorse(long key, long index, long thanKey, long thanIndex) {
        return key < thanKey || (key == thanKey && index > thanIndex);
    }
}
