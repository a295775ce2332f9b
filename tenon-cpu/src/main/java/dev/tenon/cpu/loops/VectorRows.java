package dev.tenon.cpu.loops;

import dev.tenon.cpu.machine.Exponential;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Loops over rows that reduce, normalise or combine them: n is a multiple of the vectors' length. Several accumulators
 * each, as many as hide the latency of an addition (4 cycles) at two loads a cycle.
 */
final class VectorRows {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final Class<?> NATIVE = Segments.NATIVE;
    private static final ValueLayout.OfFloat F32 = Loops.F32;
    private static final int LANES = SPECIES.length();
    private static final long BYTES = 4L * LANES;

    private VectorRows() {}

    static float max(MemorySegment x, long xOffset, int n) {
        if (x.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector m0 = FloatVector.broadcast(SPECIES, Float.NEGATIVE_INFINITY);
        FloatVector m1 = FloatVector.broadcast(SPECIES, Float.NEGATIVE_INFINITY);
        int i = 0;
        for (; i + 2 * LANES <= n; i += 2 * LANES) {
            m0 = m0.max(FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER));
            m1 = m1.max(FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i + BYTES, ORDER));
        }
        if (i < n) {
            m0 = m0.max(FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER));
        }
        return m0.max(m1).reduceLanes(VectorOperators.MAX);
    }

    /** Of at most a few thousand elements: each lane sums in f32. */
    static float sum(MemorySegment x, long xOffset, int n) {
        if (x.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector s0 = FloatVector.zero(SPECIES);
        FloatVector s1 = FloatVector.zero(SPECIES);
        FloatVector s2 = FloatVector.zero(SPECIES);
        FloatVector s3 = FloatVector.zero(SPECIES);
        int i = 0;
        for (; i + 4 * LANES <= n; i += 4 * LANES) {
            s0 = s0.add(FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER));
            s1 = s1.add(FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i + BYTES, ORDER));
            s2 = s2.add(FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i + 2 * BYTES, ORDER));
            s3 = s3.add(FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i + 3 * BYTES, ORDER));
        }
        for (; i < n; i += LANES) {
            s0 = s0.add(FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER));
        }
        return s0.add(s1).add(s2.add(s3)).reduceLanes(VectorOperators.ADD);
    }

    /** Writes two floats: the sum of x - shift and the sum of its squares, of at most a few thousand elements. */
    static void moments(MemorySegment x, long xOffset, int n, float shift, MemorySegment to, long toOffset) {
        if (x.getClass() != NATIVE || to.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector s0 = FloatVector.zero(SPECIES);
        FloatVector s1 = FloatVector.zero(SPECIES);
        FloatVector q0 = FloatVector.zero(SPECIES);
        FloatVector q1 = FloatVector.zero(SPECIES);
        FloatVector about = FloatVector.broadcast(SPECIES, shift);
        int i = 0;
        for (; i + 2 * LANES <= n; i += 2 * LANES) {
            FloatVector d0 = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .sub(about);
            FloatVector d1 = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i + BYTES, ORDER)
                    .sub(about);
            s0 = s0.add(d0);
            s1 = s1.add(d1);
            q0 = d0.fma(d0, q0);
            q1 = d1.fma(d1, q1);
        }
        if (i < n) {
            FloatVector d = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .sub(about);
            s0 = s0.add(d);
            q0 = d.fma(d, q0);
        }
        to.set(F32, toOffset, s0.add(s1).reduceLanes(VectorOperators.ADD));
        to.set(F32, toOffset + 4, q0.add(q1).reduceLanes(VectorOperators.ADD));
    }

    /**
     * y = e^(x - shift); returns the sum of at most a few thousand.
     */
    static float expSum(MemorySegment x, long xOffset, float shift, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector rounder = FloatVector.broadcast(SPECIES, Exponential.ROUNDER);
        FloatVector sum = FloatVector.zero(SPECIES);
        for (int i = 0; i < n; i += LANES) {
            FloatVector given = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .sub(shift);
            FloatVector v = given.blend(
                            VectorExponentials.EXP_LEAST,
                            given.compare(VectorOperators.LT, VectorExponentials.EXP_LEAST))
                    .blend(VectorExponentials.EXP_MOST, given.compare(VectorOperators.GT, VectorExponentials.EXP_MOST));
            FloatVector t = v.fma(FloatVector.broadcast(SPECIES, Exponential.LOG2_E), rounder);
            FloatVector k = t.sub(rounder);
            FloatVector r = k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_HIGH), v);
            r = k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_LOW), r);
            FloatVector p = r.fma(
                    FloatVector.broadcast(SPECIES, Exponential.E5), FloatVector.broadcast(SPECIES, Exponential.E4));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E3));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E2));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E1));
            p = p.mul(r).fma(r, r.add(1));
            IntVector bits = t.reinterpretAsInts();
            IntVector half = bits.lanewise(VectorOperators.ASHR, 1)
                    .lanewise(VectorOperators.LSHL, 23)
                    .add(VectorExponentials.ONE_BITS);
            IntVector other = bits.lanewise(VectorOperators.LSHL, 23).sub(half).add(2 * VectorExponentials.ONE_BITS);
            FloatVector e = p.mul(half.reinterpretAsFloats()).mul(other.reinterpretAsFloats());
            sum = sum.add(e);
            e.intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
        return sum.reduceLanes(VectorOperators.ADD);
    }

    static void normalise(Place x, Place y, int n, NormFactors affine) {
        MemorySegment from = x.memory();
        long fromOffset = x.offset();
        MemorySegment to = y.memory();
        long toOffset = y.offset();
        if (from.getClass() != NATIVE || to.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        float mean = affine.mean();
        FloatVector times = FloatVector.broadcast(SPECIES, affine.factor());
        FloatVector plus = FloatVector.broadcast(SPECIES, affine.addend());
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, from, fromOffset + 4L * i, ORDER)
                    .sub(mean)
                    .fma(times, plus)
                    .intoMemorySegment(to, toOffset + 4L * i, ORDER);
        }
    }

    static void normaliseAndScale(Place x, Place y, int n, NormFactors affine, Place scale) {
        MemorySegment from = x.memory();
        long fromOffset = x.offset();
        MemorySegment to = y.memory();
        long toOffset = y.offset();
        MemorySegment scales = scale.memory();
        long scalesOffset = scale.offset();
        if (from.getClass() != NATIVE || to.getClass() != NATIVE || scales.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        float mean = affine.mean();
        FloatVector times = FloatVector.broadcast(SPECIES, affine.factor());
        FloatVector plus = FloatVector.broadcast(SPECIES, affine.addend());
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, from, fromOffset + 4L * i, ORDER)
                    .sub(mean)
                    .fma(times, plus)
                    .mul(FloatVector.fromMemorySegment(SPECIES, scales, scalesOffset + 4L * i, ORDER))
                    .intoMemorySegment(to, toOffset + 4L * i, ORDER);
        }
    }

    static void normaliseScaleAndShift(Place x, Place y, int n, NormFactors affine, Place scale, Place bias) {
        MemorySegment from = x.memory();
        long fromOffset = x.offset();
        MemorySegment to = y.memory();
        long toOffset = y.offset();
        MemorySegment scales = scale.memory();
        long scalesOffset = scale.offset();
        MemorySegment biases = bias.memory();
        long biasesOffset = bias.offset();
        if (from.getClass() != NATIVE
                || to.getClass() != NATIVE
                || scales.getClass() != NATIVE
                || biases.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        float mean = affine.mean();
        FloatVector times = FloatVector.broadcast(SPECIES, affine.factor());
        FloatVector plus = FloatVector.broadcast(SPECIES, affine.addend());
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, from, fromOffset + 4L * i, ORDER)
                    .sub(mean)
                    .fma(times, plus)
                    .fma(
                            FloatVector.fromMemorySegment(SPECIES, scales, scalesOffset + 4L * i, ORDER),
                            FloatVector.fromMemorySegment(SPECIES, biases, biasesOffset + 4L * i, ORDER))
                    .intoMemorySegment(to, toOffset + 4L * i, ORDER);
        }
    }

    static float dot(MemorySegment a, long aOffset, MemorySegment b, long bOffset, int n) {
        if (a.getClass() != NATIVE || b.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector s0 = FloatVector.zero(SPECIES);
        FloatVector s1 = FloatVector.zero(SPECIES);
        int i = 0;
        for (; i + 2 * LANES <= n; i += 2 * LANES) {
            s0 = FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i, ORDER)
                    .fma(FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i, ORDER), s0);
            s1 = FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i + BYTES, ORDER)
                    .fma(FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i + BYTES, ORDER), s1);
        }
        if (i < n) {
            s0 = FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i, ORDER)
                    .fma(FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i, ORDER), s0);
        }
        return s0.add(s1).reduceLanes(VectorOperators.ADD);
    }

    /** One vector's width of columns of {@link Loops#mix}, over four rows at a time. */
    static void mix(
            MemorySegment weights,
            long weightsOffset,
            MemorySegment v,
            long vOffset,
            int size,
            MemorySegment y,
            long yOffset,
            int n) {
        if (weights.getClass() != NATIVE || v.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        long step = 4L * size;
        FloatVector s0 = FloatVector.fromMemorySegment(SPECIES, y, yOffset, ORDER);
        FloatVector s1 = FloatVector.zero(SPECIES);
        FloatVector s2 = FloatVector.zero(SPECIES);
        FloatVector s3 = FloatVector.zero(SPECIES);
        int j = 0;
        for (; j + 3 < n; j += 4) {
            long row = vOffset + j * step;
            long weight = weightsOffset + 4L * j;
            s0 = FloatVector.fromMemorySegment(SPECIES, v, row, ORDER)
                    .fma(FloatVector.broadcast(SPECIES, weights.get(F32, weight)), s0);
            s1 = FloatVector.fromMemorySegment(SPECIES, v, row + step, ORDER)
                    .fma(FloatVector.broadcast(SPECIES, weights.get(F32, weight + 4)), s1);
            s2 = FloatVector.fromMemorySegment(SPECIES, v, row + 2 * step, ORDER)
                    .fma(FloatVector.broadcast(SPECIES, weights.get(F32, weight + 8)), s2);
            s3 = FloatVector.fromMemorySegment(SPECIES, v, row + 3 * step, ORDER)
                    .fma(FloatVector.broadcast(SPECIES, weights.get(F32, weight + 12)), s3);
        }
        for (; j < n; j++) {
            s0 = FloatVector.fromMemorySegment(SPECIES, v, vOffset + j * step, ORDER)
                    .fma(FloatVector.broadcast(SPECIES, weights.get(F32, weightsOffset + 4L * j)), s0);
        }
        s0.add(s1).add(s2.add(s3)).intoMemorySegment(y, yOffset, ORDER);
    }
}
