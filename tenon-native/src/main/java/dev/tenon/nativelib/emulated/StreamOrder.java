package dev.tenon.nativelib.emulated;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A piece of work in the order of all streams. Immutable.
 *
 * @param stream the number of its stream
 * @param known by stream, how many pieces of its work this one comes after; of its own, its number
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once; never compared
public record StreamOrder(int stream, long[] known) {
    MemorySegment write(Arena arena) {
        MemorySegment order = arena.allocate(24, 8);
        order.set(JAVA_INT, 0, stream);
        order.set(JAVA_INT, 4, known.length);
        order.set(JAVA_LONG, 8, known[stream]);
        order.set(JAVA_LONG, 16, arena.allocateFrom(JAVA_LONG, known).address());
        return order;
    }
}
