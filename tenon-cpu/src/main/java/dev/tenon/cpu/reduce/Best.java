package dev.tenon.cpu.reduce;

import dev.tenon.cpu.keys.KeyLoops;
import dev.tenon.cpu.keys.Keys;
import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;

/**
 * The best keys so far and their indices, in memory behind what blocks give.
 *
 * @param last whether the last of equals is the best
 */
record Best(MemorySegment memory, boolean last) {
    static final long BYTES = 16;

    static long at(long number) {
        return KeyLoops.FOUND_BYTES + BYTES * number;
    }

    /** As of no elements: the first that is taken is the best. */
    void clear(long at, Keys keys) {
        set(at, keys.least(), -1);
    }

    void set(long at, long key, long index) {
        memory.set(Raw.I64, at, key);
        memory.set(Raw.I64, at + 8, index);
    }

    long key(long at) {
        return memory.get(Raw.I64, at);
    }

    long index(long at) {
        return memory.get(Raw.I64, at + 8);
    }

    /** Takes a key that is behind those before; returns whether it is the best now. */
    boolean take(long at, long key, long index) {
        long known = key(at);
        boolean better = key > known || key == known && (last || index(at) < 0);
        if (better) {
            set(at, key, index);
        }
        return better;
    }

    /** Takes the best of what is behind. */
    void join(long at, long other) {
        take(at, key(other), index(other));
    }
}
