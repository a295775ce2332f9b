package dev.tenon.cpu.loops;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** The loops of quantisation on the Vector API. Vectors stay local to one method each, see {@link VectorLoops}. */
final class VectorQuantLoops extends QuantLoops {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Integer> INTS = SPECIES.withLanes(int.class);
    private static final int LANES = SPECIES.length();
    /** As many bytes as there are lanes; 64 bits are the shortest there is, so four lanes do not have one. */
    private static final VectorSpecies<Byte> BYTES =
            VectorSpecies.of(byte.class, VectorShape.forBitSize(Math.max(64, 8 * LANES)));

    private static final Class<?> NATIVE = Segments.NATIVE;
    private static final boolean NARROW = LANES < 8;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    /**
     * Adding it leaves no room for a fraction: the sum is rounded half to even, as long as what is added is below 2^22.
     */
    private static final float ROUND = 0x1.8p23f;

    @Override
    public String tier() {
        return NARROW ? "scalar" : "vector";
    }

    @Override
    public void quantize(MemorySegment x, long xOffset, ByteScale to, MemorySegment y, long yOffset, long n) {
        boolean fast = !NARROW && MoveLoops.get().quantize.ready() && Segments.isNative(x) && Segments.isNative(y);
        long i = fast ? toBytes(x, xOffset, to, y, yOffset, n) : 0;
        super.quantize(x, xOffset + 4 * i, to, y, yOffset + i, n - i);
    }

    static long toBytes(MemorySegment x, long xOffset, ByteScale to, MemorySegment y, long yOffset, long n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        long i = 0;
        float scale = to.scale();
        float zero = to.zero();
        // bounds are integers, so bounding may come before rounding
        float low = to.least() - zero;
        float high = to.largest() - zero;
        for (; i + LANES <= n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4 * i, ORDER)
                    .div(scale);
            v = v.max(low).min(high).add(ROUND).sub(ROUND).add(zero);
            IntVector q = (IntVector) v.convert(VectorOperators.F2I, 0);
            ByteVector bytes = (ByteVector) q.castShape(BYTES, 0);
            bytes.intoMemorySegment(y, yOffset + i, ORDER);
        }
        return i;
    }

    @Override
    public void dequantize(
            MemorySegment x,
            long xOffset,
            boolean signed,
            float scale,
            float zero,
            MemorySegment y,
            long yOffset,
            long n) {
        boolean fast = !NARROW && MoveLoops.get().dequantize.ready() && Segments.isNative(x) && Segments.isNative(y);
        long i = fast ? fromBytes(x, xOffset, signed, scale, zero, y, yOffset, n) : 0;
        super.dequantize(x, xOffset + i, signed, scale, zero, y, yOffset + 4 * i, n - i);
    }

    static long fromBytes(
            MemorySegment x,
            long xOffset,
            boolean signed,
            float scale,
            float zero,
            MemorySegment y,
            long yOffset,
            long n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        long i = 0;
        int mask = signed ? -1 : 0xFF;
        for (; i + LANES <= n; i += LANES) {
            ByteVector bytes = ByteVector.fromMemorySegment(BYTES, x, xOffset + i, ORDER);
            IntVector q = ((IntVector) bytes.castShape(INTS, 0)).and(mask);
            FloatVector v = (FloatVector) q.convert(VectorOperators.I2F, 0);
            v.sub(zero).mul(scale).intoMemorySegment(y, yOffset + 4 * i, ORDER);
        }
        return i;
    }

    @Override
    public void range(MemorySegment x, long xOffset, int n, MemorySegment range, long rangeOffset) {
        boolean fast = MoveLoops.get().range.ready() && Segments.isNative(x) && Segments.isNative(range);
        int i = fast ? extremes(x, xOffset, n, range, rangeOffset) : 0;
        super.range(x, xOffset + 4L * i, n - i, range, rangeOffset);
    }

    static int extremes(MemorySegment x, long xOffset, int n, MemorySegment range, long rangeOffset) {
        if (x.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        int i = 0;
        if (n >= LANES) {
            FloatVector min = FloatVector.zero(SPECIES);
            FloatVector max = FloatVector.zero(SPECIES);
            for (; i + LANES <= n; i += LANES) {
                FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
                min = min.min(v);
                max = max.max(v);
            }
            float least = min.reduceLanes(VectorOperators.MIN);
            float most = max.reduceLanes(VectorOperators.MAX);
            range.set(Raw.F32, rangeOffset, Math.min(range.get(Raw.F32, rangeOffset), least));
            range.set(Raw.F32, rangeOffset + 4, Math.max(range.get(Raw.F32, rangeOffset + 4), most));
        }
        return i;
    }
}
