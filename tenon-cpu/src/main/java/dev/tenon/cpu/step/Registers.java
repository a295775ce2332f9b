package dev.tenon.cpu.step;

import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The operands of a tile of work, by number: a segment, a byte offset in it, and a running index. Grows to what the
 * largest step needs.
 */
public final class Registers {
    public MemorySegment[] segments = new MemorySegment[0];
    public long[] offsets = new long[0];

    public Place place(int register) {
        return new Place(segments[register], offsets[register]);
    }

    public void ensure(int count) {
        if (segments.length < count) {
            int old = segments.length;
            segments = Arrays.copyOf(segments, count);
            Arrays.fill(segments, old, count, MemorySegment.NULL);
            offsets = new long[count];
        }
    }
}
