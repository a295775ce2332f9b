package dev.tenon.cpu;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** The hot loops on the Vector API. Vectors stay local to one method each: one that is passed to a method which is not inlined is boxed, ten times slower. */
final class VectorKernels extends Kernels {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    static final int LANES = SPECIES.length();
    static final int PANEL = 2 * LANES;

    @Override
    String tier() {
        return "vector";
    }

    @Override
    int rows() {
        return VectorTile.ROWS;
    }

    @Override
    void tile(
            int rows,
            int k,
            MemorySegment a,
            long aOffset,
            long lda,
            MemorySegment b,
            long bOffset,
            MemorySegment c,
            long cOffset,
            long ldc,
            int start,
            MemorySegment bias,
            long biasOffset) {
        VectorTile.run(rows, k, a, aOffset, lda, b, bOffset, c, cOffset, ldc, start, bias, biasOffset);
    }
}
