package dev.tenon.nativelib.emulated;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The runtime's {@code struct Fault} (fault.h). */
final class FaultLayout {
    private static final int OFFSET = 24;
    private static final int LINE = 32;
    private static final int FILE = 36;
    private static final int TEXT = 288;
    private static final int BYTES = TEXT + 1024;

    private FaultLayout() {}

    static MemorySegment allocate(Arena arena) {
        return arena.allocate(BYTES, Long.BYTES);
    }

    static KernelFault read(MemorySegment fault) {
        return new KernelFault(
                fault.getString(TEXT),
                triple(fault, 0),
                triple(fault, 12),
                fault.getString(FILE),
                fault.get(JAVA_INT, LINE),
                fault.get(JAVA_LONG, OFFSET));
    }

    private static String triple(MemorySegment fault, long at) {
        return "(" + Integer.toUnsignedString(fault.get(JAVA_INT, at)) + ","
                + Integer.toUnsignedString(fault.get(JAVA_INT, at + 4)) + ","
                + Integer.toUnsignedString(fault.get(JAVA_INT, at + 8)) + ")";
    }
}
