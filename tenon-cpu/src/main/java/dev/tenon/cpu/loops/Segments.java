package dev.tenon.cpu.loops;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The kind of memory that vector loops take: allocated outside the heap, not mapped, not on the heap.
 *
 * <p>The JDK's segments are of one class a kind, and the compiler knows which class an access meets by what the whole
 * process has done before. Where some other code has used mapped or heap segments, every access in a loop would test
 * for its kind, and vectors be boxed: matrix products ran 3 to 30 times slower. So each vector loop compares the
 * classes with this constant first, after which the compiler knows.
 */
public final class Segments {
    static final Class<?> NATIVE = Arena.global().allocate(8, 8).getClass();

    private Segments() {}

    public static boolean isNative(MemorySegment segment) {
        return segment.getClass() == NATIVE;
    }

    /** The first line of each vector loop outside of this package. */
    public static void requireNative(MemorySegment a, MemorySegment b) {
        if (a.getClass() != NATIVE || b.getClass() != NATIVE) {
            throw unexpected();
        }
    }

    static IllegalArgumentException unexpected() {
        return new IllegalArgumentException("a vector loop takes memory that is neither mapped nor on the heap");
    }
}
