package dev.tenon.cpu;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Elements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Splats as memory. */
final class Constants {
    private Constants() {}

    /** All elements of a splat, in memory that is freed when unreachable: for preparing other forms, not for keeping. */
    static MemorySegment materialise(ConstantData.Splat splat) {
        MemorySegment all = Arena.ofAuto().allocate(splat.type().bytes(), 64);
        fill(splat, all);
        return all;
    }

    static void fill(ConstantData.Splat splat, MemorySegment to) {
        int bits = splat.type().dtype().bits();
        if (bits <= 8) {
            byte pair = (byte) (bits == 8 ? splat.element() : (splat.element() & 0xF) * 0x11);
            to.fill(pair);
            return;
        }
        long count = splat.type().shape().elements();
        for (long i = 0; i < count; i++) {
            Elements.setBits(splat.type().dtype(), to, i, splat.element());
        }
    }
}
