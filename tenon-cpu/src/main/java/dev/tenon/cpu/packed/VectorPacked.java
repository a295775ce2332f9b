package dev.tenon.cpu.packed;

import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Segments;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loops of {@link PackedLoops} on the Vector API: integers become f32 lanes, a block's sum is scaled as a vector.
 * Vectors stay local to one method each. Memory is native.
 */
final class VectorPacked {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final VectorSpecies<Byte> BYTES =
            VectorSpecies.of(byte.class, VectorShape.forBitSize(Math.max(64, 8 * LANES)));
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final byte HALF = 15;
    private static final int SIXES = 0x3f3f3f3f;
    private static final int HALVES = 0x0f0f0f0f;
    private static final int UPPER = 0x30303030;

    private VectorPacked() {}

    /** Whether a run of 16 bytes is whole vectors of bytes. */
    static boolean fits() {
        return LANES == 8 || LANES == 16;
    }

    static float q8(MemorySegment w, long at, MemorySegment x, long xAt, long blocks) {
        Segments.requireNative(w, x);
        FloatVector sum = FloatVector.zero(SPECIES);
        for (long b = 0; b < blocks; b++) {
            FloatVector part = FloatVector.zero(SPECIES);
            for (int i = 0; i < 32; i += LANES) {
                ByteVector q = ByteVector.fromMemorySegment(BYTES, w, at + 2 + i, ORDER);
                part = ((FloatVector) q.convertShape(VectorOperators.B2F, SPECIES, 0))
                        .fma(FloatVector.fromMemorySegment(SPECIES, x, xAt + 4L * i, ORDER), part);
            }
            sum = part.fma(FloatVector.broadcast(SPECIES, Float.float16ToFloat(w.get(PackedLoops.I16, at))), sum);
            at += PackedLoops.Q8_0_BYTES;
            xAt += 128;
        }
        return sum.reduceLanes(VectorOperators.ADD);
    }

    static float q4(MemorySegment w, long at, MemorySegment x, long xAt, long blocks) {
        Segments.requireNative(w, x);
        FloatVector sum = FloatVector.zero(SPECIES);
        for (long b = 0; b < blocks; b++) {
            FloatVector part = FloatVector.zero(SPECIES);
            for (int i = 0; i < 16; i += LANES) {
                ByteVector two = ByteVector.fromMemorySegment(BYTES, w, at + 2 + i, ORDER);
                ByteVector low = two.and(HALF).sub((byte) 8);
                ByteVector high = two.reinterpretAsShorts()
                        .lanewise(VectorOperators.LSHR, 4) // there is no shift of bytes
                        .reinterpretAsBytes()
                        .and(HALF)
                        .sub((byte) 8);
                part = ((FloatVector) low.convertShape(VectorOperators.B2F, SPECIES, 0))
                        .fma(FloatVector.fromMemorySegment(SPECIES, x, xAt + 4L * i, ORDER), part);
                part = ((FloatVector) high.convertShape(VectorOperators.B2F, SPECIES, 0))
                        .fma(FloatVector.fromMemorySegment(SPECIES, x, xAt + 64 + 4L * i, ORDER), part);
            }
            sum = part.fma(FloatVector.broadcast(SPECIES, Float.float16ToFloat(w.get(PackedLoops.I16, at))), sum);
            at += PackedLoops.Q4_0_BYTES;
            xAt += 128;
        }
        return sum.reduceLanes(VectorOperators.ADD);
    }

    /** @param sums of each 32 elements of x, f32 */
    static float q4k(
            MemorySegment w, long at, MemorySegment x, long xAt, MemorySegment sums, long sumsAt, long blocks) {
        Segments.requireNative(w, x);
        FloatVector sum = FloatVector.zero(SPECIES);
        float offset = 0;
        for (long b = 0; b < blocks; b++) {
            float scale = Float.float16ToFloat(w.get(PackedLoops.I16, at));
            float least = Float.float16ToFloat(w.get(PackedLoops.I16, at + 2));
            // eight numbers of 6 bits each, a byte each: two bits of the last four lie apart
            int a = w.get(PackedLoops.I32, at + 4);
            int c = w.get(PackedLoops.I32, at + 8);
            int e = w.get(PackedLoops.I32, at + 12);
            long scales = a & SIXES | (long) (e & HALVES | a >>> 2 & UPPER) << 32;
            long minima = c & SIXES | (long) (e >>> 4 & HALVES | c >>> 2 & UPPER) << 32;
            for (int pair = 0; pair < 4; pair++) {
                FloatVector first = FloatVector.zero(SPECIES);
                FloatVector second = FloatVector.zero(SPECIES);
                long from = at + 16 + 32L * pair;
                for (int i = 0; i < 32; i += LANES) {
                    ByteVector two = ByteVector.fromMemorySegment(BYTES, w, from + i, ORDER);
                    first = ((FloatVector) two.and(HALF).convertShape(VectorOperators.B2F, SPECIES, 0))
                            .fma(FloatVector.fromMemorySegment(SPECIES, x, xAt + 4L * i, ORDER), first);
                    second = ((FloatVector) two.reinterpretAsShorts()
                                    .lanewise(VectorOperators.LSHR, 4)
                                    .reinterpretAsBytes()
                                    .and(HALF)
                                    .convertShape(VectorOperators.B2F, SPECIES, 0))
                            .fma(FloatVector.fromMemorySegment(SPECIES, x, xAt + 128 + 4L * i, ORDER), second);
                }
                sum = first.fma(
                        FloatVector.broadcast(SPECIES, scale * (scales & 63)),
                        second.fma(FloatVector.broadcast(SPECIES, scale * (scales >>> 8 & 63)), sum));
                offset += least
                        * ((minima & 63) * sums.get(Raw.F32, sumsAt)
                                + (minima >>> 8 & 63) * sums.get(Raw.F32, sumsAt + 4));
                scales >>>= 16;
                minima >>>= 16;
                xAt += 256;
                sumsAt += 8;
            }
            at += PackedLoops.Q4_K_BYTES;
        }
        return sum.reduceLanes(VectorOperators.ADD) - offset;
    }
}
