package dev.tenon.cpu.loops;

import dev.tenon.cpu.machine.Exponential;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The functions of {@link VectorUnary} that rest on the exponential.
 *
 * <p>The exponential is 2^n (1 + m) with r in ±ln(2)/2 and a polynomial of degree 6 for m = e^r - 1 (our fit, within
 * 4e-9), within a unit in the last place. A power of two whose product may be subnormal is given as two factors, so
 * that rounding there happens once, at the end. {@link dev.tenon.core.ir.op.elementwise.UnaryAccuracy} states how near
 * results are.
 */
@SuppressWarnings("FloatingPointLiteralPrecision") // coefficients as published
final class VectorExponentials {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final Class<?> NATIVE = Segments.NATIVE;
    private static final int LANES = SPECIES.length();

    /** The bits of 2^-1, with which 2^(n-1) is made for n that are at most 1. */
    static final int HALF_BITS = 126 << 23;

    /** Below, e^x is 0 even among subnormal numbers; above, infinity. */
    static final float EXP_LEAST = -104;

    static final float EXP_MOST = 89;

    /** Below, the softplus of x is its exponential. */
    private static final float MISH_TAIL = -40;

    static final int ONE_BITS = 127 << 23;

    private VectorExponentials() {}

    static void exp(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector rounder = FloatVector.broadcast(SPECIES, Exponential.ROUNDER);
        for (int i = 0; i < n; i += LANES) {
            FloatVector given = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector v = given.blend(EXP_LEAST, given.compare(VectorOperators.LT, EXP_LEAST))
                    .blend(EXP_MOST, given.compare(VectorOperators.GT, EXP_MOST));
            FloatVector t = v.fma(FloatVector.broadcast(SPECIES, Exponential.LOG2_E), rounder);
            FloatVector k = t.sub(rounder);
            FloatVector r = k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_HIGH), v);
            r = k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_LOW), r);
            FloatVector p = r.fma(
                    FloatVector.broadcast(SPECIES, Exponential.E5), FloatVector.broadcast(SPECIES, Exponential.E4));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E3));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E2));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E1));
            p = p.mul(r).fma(r, r);
            // 2^n as two factors, the first 2^(n/2): results may be subnormal, and 2^128 is no number
            IntVector bits = t.reinterpretAsInts();
            IntVector half = bits.lanewise(VectorOperators.ASHR, 1)
                    .lanewise(VectorOperators.LSHL, 23)
                    .add(ONE_BITS);
            IntVector other = bits.lanewise(VectorOperators.LSHL, 23).sub(half).add(2 * ONE_BITS);
            p.add(1)
                    .mul(half.reinterpretAsFloats())
                    .mul(other.reinterpretAsFloats())
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    /**
     * x e / (1 + e) with e = e^-|alpha x|, x / (1 + e) on the other side of 0; or 1 instead of x. What the product
     * alpha x rounds off goes into the exponential, which multiplies a relative error by its argument. x takes part
     * before the power of two does, whose product may be subnormal.
     */
    static void gate(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n, float alpha, boolean timesX) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector rounder = FloatVector.broadcast(SPECIES, Exponential.ROUNDER);
        FloatVector one = FloatVector.broadcast(SPECIES, 1);
        float slope = -Math.abs(alpha);
        float limit = -131 / slope;
        float sign = -Math.signum(alpha);
        for (int i = 0; i < n; i += LANES) {
            FloatVector given = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector u = given.abs();
            u = u.blend(limit, u.compare(VectorOperators.GT, limit));
            FloatVector v = u.mul(slope);
            FloatVector rest = u.fma(FloatVector.broadcast(SPECIES, slope), v.neg());
            FloatVector t = v.fma(FloatVector.broadcast(SPECIES, Exponential.LOG2_E), rounder);
            FloatVector k = t.sub(rounder);
            FloatVector r = k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_HIGH), v);
            r = r.add(k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_LOW), rest));
            FloatVector p = r.fma(
                    FloatVector.broadcast(SPECIES, Exponential.E5), FloatVector.broadcast(SPECIES, Exponential.E4));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E3));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E2));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E1));
            p = p.mul(r).fma(r, r);
            FloatVector power = t.reinterpretAsInts()
                    .lanewise(VectorOperators.LSHL, 23)
                    .add(ONE_BITS + (64 << 23))
                    .reinterpretAsFloats();
            FloatVector e = p.fma(power, power).mul(0x1p-64f);
            FloatVector far = timesX ? u.mul(sign) : one;
            far = p.fma(far, far).mul(power).mul(0x1p-64f);
            FloatVector near = timesX ? given : one;
            far.blend(near, given.mul(alpha).compare(VectorOperators.GE, 0))
                    .div(e.add(1))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    /**
     * (1 + tanh u) / 2 is 1 / (1 + e^(-2u)). 2u is worked out to twice the digits, because the exponential multiplies a
     * relative error by it; from x = -12 on down the result is 0.
     */
    static void geluTanh(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector rounder = FloatVector.broadcast(SPECIES, Exponential.ROUNDER);
        FloatVector cube = FloatVector.broadcast(SPECIES, -0.0713548139f);
        FloatVector linear = FloatVector.broadcast(SPECIES, -1.595703125f); // short: the next difference is exact
        for (int i = 0; i < n; i += LANES) {
            FloatVector given = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector a = given.abs();
            a = a.blend(12, a.compare(VectorOperators.GT, 12));
            FloatVector s = a.mul(a);
            FloatVector factor = s.fma(cube, linear);
            FloatVector rest = s.fma(
                    FloatVector.broadcast(SPECIES, -2.39883247e-09f), FloatVector.broadcast(SPECIES, -6.59966026e-05f));
            rest = a.fma(a, s.neg()).fma(cube, rest).add(s.fma(cube, linear.sub(factor)));
            FloatVector v = a.mul(factor);
            rest = a.fma(rest, a.fma(factor, v.neg()));
            FloatVector t = v.fma(FloatVector.broadcast(SPECIES, Exponential.LOG2_E), rounder);
            FloatVector k = t.sub(rounder);
            FloatVector r = k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_HIGH), v);
            r = r.add(k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_LOW), rest));
            FloatVector p = r.fma(
                    FloatVector.broadcast(SPECIES, Exponential.E5), FloatVector.broadcast(SPECIES, Exponential.E4));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E3));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E2));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E1));
            p = p.mul(r).fma(r, r);
            FloatVector power = t.reinterpretAsInts()
                    .lanewise(VectorOperators.LSHL, 23)
                    .add(ONE_BITS + (100 << 23))
                    .reinterpretAsFloats();
            FloatVector e = p.fma(power, power).mul(0x1p-100f);
            p.fma(a, a)
                    .mul(power)
                    .mul(-0x1p-100f)
                    .blend(given, given.compare(VectorOperators.GE, 0))
                    .div(e.add(1))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    /** alpha tanh(beta x), by |m| / (m + 2) with m = e^(-2 |beta x|) - 1: nothing cancels near 0. */
    static void tanh(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n, float alpha, float beta) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector rounder = FloatVector.broadcast(SPECIES, Exponential.ROUNDER);
        for (int i = 0; i < n; i += LANES) {
            FloatVector given = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .mul(beta);
            FloatVector a = given.abs();
            a = a.blend(10, a.compare(VectorOperators.GT, 10));
            FloatVector v = a.mul(-2);
            FloatVector t = v.fma(FloatVector.broadcast(SPECIES, Exponential.LOG2_E), rounder);
            FloatVector k = t.sub(rounder);
            FloatVector r = k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_HIGH), v);
            r = k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_LOW), r);
            FloatVector p = r.fma(
                    FloatVector.broadcast(SPECIES, Exponential.E5), FloatVector.broadcast(SPECIES, Exponential.E4));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E3));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E2));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E1));
            p = p.mul(r).fma(r, r);
            FloatVector power = t.reinterpretAsInts()
                    .lanewise(VectorOperators.LSHL, 23)
                    .add(ONE_BITS)
                    .reinterpretAsFloats();
            FloatVector m = p.fma(power, power.sub(1));
            IntVector sign = given.reinterpretAsInts().lanewise(VectorOperators.AND, Integer.MIN_VALUE);
            m.abs()
                    .div(m.add(2))
                    .reinterpretAsInts()
                    .lanewise(VectorOperators.XOR, sign)
                    .reinterpretAsFloats()
                    .mul(alpha)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    /**
     * x p(x^2) near 0, 1 - e^(q(|x|)) with the sign of x from 0.93 on (N. Juffa's coefficients): within a unit in the
     * last place, where the quotient that {@link #gelu} uses is within three.
     */
    static void erf(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector rounder = FloatVector.broadcast(SPECIES, Exponential.ROUNDER);
        for (int i = 0; i < n; i += LANES) {
            FloatVector given = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector a = given.abs();
            FloatVector s = given.mul(given);
            FloatVector near = s.fma(
                    FloatVector.broadcast(SPECIES, -5.96761703e-4f), FloatVector.broadcast(SPECIES, 4.99119423e-3f));
            near = near.fma(s, FloatVector.broadcast(SPECIES, -2.67681349e-2f));
            near = near.fma(s, FloatVector.broadcast(SPECIES, 1.12819925e-1f));
            near = near.fma(s, FloatVector.broadcast(SPECIES, -3.76125336e-1f));
            near = near.fma(s, FloatVector.broadcast(SPECIES, 1.28379166e-1f)).fma(given, given);
            FloatVector v = a.fma(
                    FloatVector.broadcast(SPECIES, -1.72853470e-5f), FloatVector.broadcast(SPECIES, 3.83197126e-4f));
            v = v.fma(a, FloatVector.broadcast(SPECIES, -3.88396438e-3f));
            v = v.fma(a, FloatVector.broadcast(SPECIES, 2.42546219e-2f));
            v = v.fma(a, FloatVector.broadcast(SPECIES, -1.06777877e-1f));
            v = v.fma(a, FloatVector.broadcast(SPECIES, -6.34846687e-1f));
            v = v.fma(a, FloatVector.broadcast(SPECIES, -1.28717512e-1f));
            v = v.fma(a, a.neg());
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
            IntVector bits =
                    t.reinterpretAsInts().lanewise(VectorOperators.LSHL, 23).add(HALF_BITS);
            FloatVector far = p.mul(bits.reinterpretAsFloats())
                    .fma(FloatVector.broadcast(SPECIES, -2), FloatVector.broadcast(SPECIES, 1))
                    .blend(1, a.compare(VectorOperators.GT, 4));
            far = far.blend(far.neg(), given.compare(VectorOperators.LT, 0));
            near.blend(far, a.compare(VectorOperators.GT, 0.927734375f)).intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    /**
     * max(x, 0) - a Q(a) with a = |x|, where Q is the normal distribution's upper tail: e^(-a^2 / 2) times a quotient
     * of polynomials with positive coefficients (our fit, within 3e-8; each summed in the order that rounds least).
     * What the square rounds off goes into the exponential, which multiplies a relative error by a^2. From x = -15 on
     * down the result is 0.
     */
    static void gelu(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector rounder = FloatVector.broadcast(SPECIES, Exponential.ROUNDER);
        FloatVector half = FloatVector.broadcast(SPECIES, -0.5f);
        for (int i = 0; i < n; i += LANES) {
            FloatVector given = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector a = given.abs();
            a = a.blend(15, a.compare(VectorOperators.GT, 15));
            FloatVector s = a.mul(a);
            FloatVector v = s.mul(half);
            FloatVector rest = a.fma(a, s.neg()).mul(half);
            FloatVector t = v.fma(FloatVector.broadcast(SPECIES, Exponential.LOG2_E), rounder);
            FloatVector k = t.sub(rounder);
            FloatVector r = k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_HIGH), v);
            r = r.add(k.fma(FloatVector.broadcast(SPECIES, Exponential.LN2_LOW), rest));
            FloatVector p = r.fma(
                    FloatVector.broadcast(SPECIES, Exponential.E5), FloatVector.broadcast(SPECIES, Exponential.E4));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E3));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E2));
            p = p.fma(r, FloatVector.broadcast(SPECIES, Exponential.E1));
            p = p.mul(r).fma(r, r);
            FloatVector power = t.reinterpretAsInts()
                    .lanewise(VectorOperators.LSHL, 23)
                    .add(ONE_BITS + (64 << 23))
                    .reinterpretAsFloats();
            FloatVector n1 =
                    a.fma(FloatVector.broadcast(SPECIES, 0.183970973f), FloatVector.broadcast(SPECIES, 0.439286917f));
            FloatVector n3 = a.fma(
                    FloatVector.broadcast(SPECIES, 0.00415328005f), FloatVector.broadcast(SPECIES, 0.0408814996f));
            FloatVector top = s.fma(n3, n1).fma(s, a.mul(0.5f));
            FloatVector d1 =
                    a.fma(FloatVector.broadcast(SPECIES, 1.20555723f), FloatVector.broadcast(SPECIES, 1.67645872f));
            FloatVector d3 =
                    a.fma(FloatVector.broadcast(SPECIES, 0.102480799f), FloatVector.broadcast(SPECIES, 0.471413672f));
            FloatVector bottom = s.fma(FloatVector.broadcast(SPECIES, 0.0104106199f), d3)
                    .fma(s, d1)
                    .fma(a, FloatVector.broadcast(SPECIES, 1));
            FloatVector q = top.div(bottom);
            FloatVector tail = p.fma(q, q).mul(power).mul(-0x1p-64f);
            tail.blend(given.add(tail), given.compare(VectorOperators.GE, 0))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    static void expMinusOne(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.EXPM1)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    static void logOnePlus(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.LOG1P)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    static void powerOfTwo(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.broadcast(SPECIES, 2)
                    .lanewise(VectorOperators.POW, FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    /** factor (e^(x / divisor) - 1) below zero, scale x above. */
    static void elu(
            MemorySegment x,
            long xOffset,
            MemorySegment y,
            long yOffset,
            int n,
            float factor,
            float scale,
            float divisor) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector below = v.div(divisor).lanewise(VectorOperators.EXPM1).mul(factor);
            v.mul(scale).blend(below, v.compare(VectorOperators.LT, 0)).intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    static void softplus(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            v.abs()
                    .neg()
                    .lanewise(VectorOperators.EXP)
                    .lanewise(VectorOperators.LOG1P)
                    .add(v.max(0))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    /** x tanh(softplus(x)); below the least x the result is a zero. */
    static void mish(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .max(2 * EXP_LEAST);
            FloatVector usual = v.abs()
                    .neg()
                    .lanewise(VectorOperators.EXP)
                    .lanewise(VectorOperators.LOG1P)
                    .add(v.max(0))
                    .lanewise(VectorOperators.TANH)
                    .mul(v);
            // there x e^x, whose exponential alone may be subnormal
            FloatVector root = v.mul(0.5f).lanewise(VectorOperators.EXP);
            usual.blend(root.mul(v).mul(root), v.compare(VectorOperators.LT, MISH_TAIL))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }
}
