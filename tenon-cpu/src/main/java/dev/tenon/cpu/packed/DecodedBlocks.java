package dev.tenon.cpu.packed;

import dev.tenon.core.ir.op.contraction.BlockDecoder;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;

/** Writes packed blocks out as f32. Not thread-safe: a piece of work has its own. */
final class DecodedBlocks {
    private final BlockFormat format;
    private final byte[] packed;
    private final double[] block;

    DecodedBlocks(BlockFormat format) {
        this.format = format;
        this.packed = new byte[format.bytes()];
        this.block = new double[format.elements()];
    }

    /** Writes out so many blocks, the first of them {@code first}, to a byte offset on. */
    void write(MemorySegment from, long first, long count, MemorySegment to, long offset) {
        for (long i = 0; i < count; i++) {
            MemorySegment.copy(from, Raw.I8, (first + i) * packed.length, packed, 0, packed.length);
            BlockDecoder.decode(format, packed, block, 0);
            long at = offset + i * block.length * Float.BYTES;
            for (int j = 0; j < block.length; j++) {
                to.set(Raw.F32, at + (long) j * Float.BYTES, (float) block[j]);
            }
        }
    }
}
