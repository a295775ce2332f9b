package dev.tenon.cpu.packed;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.contraction.BlockDecoder;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.Doubles;
import java.lang.foreign.MemorySegment;

/** Writes packed blocks out. Not thread-safe: a piece of work has its own. */
final class DecodedBlocks {
    private final BlockFormat format;
    private final byte[] packed;
    private final double[] block;

    DecodedBlocks(BlockFormat format) {
        this.format = format;
        this.packed = new byte[format.bytes()];
        this.block = new double[format.elements()];
    }

    /** Writes out so many blocks, the first of them {@code first}, from an element on. */
    void write(MemorySegment from, long first, long count, DType dtype, MemorySegment to, long element) {
        for (long i = 0; i < count; i++) {
            MemorySegment.copy(from, Raw.I8, (first + i) * packed.length, packed, 0, packed.length);
            BlockDecoder.decode(format, packed, block, 0);
            Doubles.write(dtype, block, block.length, to, element + i * block.length);
        }
    }
}
