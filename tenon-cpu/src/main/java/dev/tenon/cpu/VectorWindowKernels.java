package dev.tenon.cpu;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/** The loops of convolution on the Vector API. Vectors stay local to one method each, see {@link VectorKernels}. */
final class VectorWindowKernels extends WindowKernels {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    /** The even elements of two vectors. */
    private static final VectorShuffle<Float> EVEN = VectorShuffle.fromOp(SPECIES, i -> 2 * i % LANES);

    private static final VectorMask<Float> LOW = SPECIES.indexInRange(0, LANES / 2);

    @Override
    String tier() {
        return "vector";
    }

    @Override
    void correlate(
            MemorySegment x,
            long xOffset,
            MemorySegment w,
            long wOffset,
            int taps,
            int dilation,
            int stride,
            MemorySegment y,
            long yOffset,
            int n) {
        int i = switch (stride) {
            case 1 -> dense(x, xOffset, w, wOffset, taps, dilation, y, yOffset, n);
            case 2 -> everySecond(x, xOffset, w, wOffset, taps, dilation, y, yOffset, n);
            default -> 0;
        };
        correlate(x, xOffset, w, wOffset, taps, dilation, stride, y, yOffset, i, n);
    }

    private static int dense(
            MemorySegment x,
            long xOffset,
            MemorySegment w,
            long wOffset,
            int taps,
            int dilation,
            MemorySegment y,
            long yOffset,
            int n) {
        for (int i = 0; i < n; i += LANES) {
            VectorMask<Float> mask = SPECIES.indexInRange(i, n);
            FloatVector sum = FloatVector.fromMemorySegment(SPECIES, y, yOffset + 4L * i, ORDER, mask);
            for (int j = 0; j < taps; j++) {
                FloatVector v = FloatVector.fromMemorySegment(
                        SPECIES, x, xOffset + 4L * (i + (long) j * dilation), ORDER, mask);
                sum = v.fma(FloatVector.broadcast(SPECIES, w.get(Raw.F32, wOffset + 4L * j)), sum);
            }
            sum.intoMemorySegment(y, yOffset + 4L * i, ORDER, mask);
        }
        return n;
    }

    /** The elements past the last one needed are read only where the next whole step needs them, so the last few are left. */
    private static int everySecond(
            MemorySegment x,
            long xOffset,
            MemorySegment w,
            long wOffset,
            int taps,
            int dilation,
            MemorySegment y,
            long yOffset,
            int n) {
        int i = 0;
        for (; i + LANES < n; i += LANES) {
            FloatVector sum = FloatVector.fromMemorySegment(SPECIES, y, yOffset + 4L * i, ORDER);
            for (int j = 0; j < taps; j++) {
                long at = xOffset + 4L * (2L * i + (long) j * dilation);
                FloatVector low =
                        FloatVector.fromMemorySegment(SPECIES, x, at, ORDER).rearrange(EVEN);
                FloatVector high = FloatVector.fromMemorySegment(SPECIES, x, at + 4L * LANES, ORDER)
                        .rearrange(EVEN);
                FloatVector v = high.blend(low, LOW);
                sum = v.fma(FloatVector.broadcast(SPECIES, w.get(Raw.F32, wOffset + 4L * j)), sum);
            }
            sum.intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
        return i;
    }
}
