package dev.tenon.cpu.machine;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** What the tests of kernels share. */
final class MachineCode {
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    static final float POISON = Float.intBitsToFloat(0x7F7F7F7F);

    private MachineCode() {}

    /** The widths of vectors that run here; the test is skipped where none does. */
    static List<Integer> widths() {
        int most;
        try {
            most = CallableCode.lanes();
        } catch (IllegalStateException e) {
            most = 0;
        }
        assumeTrue(most > 0, "no machine code here");
        int lanes = most;
        return Stream.of(8, 16).filter(width -> width <= lanes).toList();
    }

    static MemorySegment arguments() {
        return Arena.ofAuto().allocate(CallableCode.ARGUMENT_BYTES, 64);
    }

    /** Memory of which no float has been written, at an address that no vector is aligned to. */
    static MemorySegment poisoned(long floats) {
        MemorySegment memory = Arena.ofAuto().allocate(4 * (floats + 1), 64).asSlice(4);
        memory.fill((byte) 0x7F);
        return memory;
    }

    static float get(MemorySegment memory, long index) {
        return memory.get(FLOAT, 4 * index);
    }

    static void set(MemorySegment memory, long index, float value) {
        memory.set(FLOAT, 4 * index, value);
    }

    static MemorySegment random(long floats, Random random) {
        MemorySegment memory = poisoned(floats);
        for (long i = 0; i < floats; i++) {
            set(memory, i, (float) random.nextGaussian());
        }
        return memory;
    }
}
