package dev.tenon.cpu;

import dev.tenon.core.ir.op.Unary;
import dev.tenon.core.ir.op.UnaryFn;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Functions of one number over whole vectors: n is a multiple of their length. One loop a function, with the whole of it written out: a loop over about 30 vector operations is still compiled well, a call that is not inlined boxes.
 *
 * <p>The exponential is 2^n e^r with r in ±ln(2)/2 and a polynomial of degree 6 for e^r (the Cephes library's, Moshier 1989), within 2 units in the last place; results below 2^-125 are 0. The error function and the hyperbolic tangent
 * are quotients of polynomials (those of Eigen and XLA), within 2e-7.
 */
@SuppressWarnings("FloatingPointLiteralPrecision") // coefficients as published
final class VectorUnary {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final Class<?> NATIVE = Segments.NATIVE;
    private static final int LANES = SPECIES.length();

    // exponential: adding 1.5 * 2^23 rounds to an integer, which is then in the low bits
    static final float LOG2_E = 1.44269504f;
    static final float ROUNDER = 12582912f;
    static final float LN2_HIGH = -0.693359375f;
    static final float LN2_LOW = 2.12194440e-4f;
    static final float E6 = 1.9875691500e-4f;
    static final float E5 = 1.3981999507e-3f;
    static final float E4 = 8.3334519073e-3f;
    static final float E3 = 4.1665795894e-2f;
    static final float E2 = 1.6666665459e-1f;
    static final float E1 = 5.0000001201e-1f;
    /** Below, e^x is taken for 0; above, for infinity. */
    static final float EXP_LOW = -86.6f;

    static final float EXP_HIGH = 88.8f;
    /** The bits of 2^-1, with which 2^(n-1) is made; the factor of 2 comes last, so that n = 128 does not overflow too early. */
    static final int HALF_BITS = 126 << 23;

    private static final float SQRT_HALF = 0.70710678f;
    private static final float TWO_SQRT_2_OVER_PI = 1.59576912f;

    private VectorUnary() {}

    /** Whether {@link #run} has the function. */
    static boolean has(UnaryFn fn) {
        return switch (fn) {
            case NEG,
                    ABS,
                    SQRT,
                    RSQRT,
                    RECIPROCAL,
                    EXP,
                    LOG,
                    TANH,
                    ERF,
                    RELU,
                    LEAKY_RELU,
                    GELU,
                    GELU_TANH,
                    SILU,
                    SIGMOID,
                    HARD_SIGMOID,
                    HARD_SWISH,
                    CLIP,
                    AFFINE,
                    SCALED_TANH -> true;
            case SIGN,
                    EXP2,
                    EXPM1,
                    LOG2,
                    LOG1P,
                    SIN,
                    COS,
                    TAN,
                    ASIN,
                    ACOS,
                    ATAN,
                    SINH,
                    COSH,
                    ASINH,
                    ACOSH,
                    ATANH,
                    FLOOR,
                    CEIL,
                    ROUND,
                    TRUNC,
                    NOT,
                    BIT_NOT,
                    IS_NAN,
                    IS_INF,
                    SOFTPLUS,
                    SOFTSIGN,
                    ELU,
                    SELU,
                    CELU,
                    MISH,
                    THRESHOLDED_RELU,
                    SHRINK -> false;
        };
    }

    static void run(Unary op, MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        float alpha = (float) op.alpha();
        float beta = (float) op.beta();
        switch (op.fn()) {
            case NEG -> negate(x, xOffset, y, yOffset, n);
            case ABS -> absolute(x, xOffset, y, yOffset, n);
            case SQRT -> root(x, xOffset, y, yOffset, n);
            case LOG -> log(x, xOffset, y, yOffset, n);
            case RSQRT -> reciprocalRoot(x, xOffset, y, yOffset, n);
            case RECIPROCAL -> reciprocal(x, xOffset, y, yOffset, n);
            case EXP -> exp(x, xOffset, y, yOffset, n);
            case SIGMOID -> gate(x, xOffset, y, yOffset, n, -1, false);
            case SILU -> gate(x, xOffset, y, yOffset, n, -alpha, true);
            case GELU_TANH -> geluTanh(x, xOffset, y, yOffset, n);
            case TANH -> tanh(x, xOffset, y, yOffset, n, 1, 1);
            case SCALED_TANH -> tanh(x, xOffset, y, yOffset, n, alpha, beta);
            case ERF -> erf(x, xOffset, y, yOffset, n);
            case GELU -> gelu(x, xOffset, y, yOffset, n);
            case RELU -> relu(x, xOffset, y, yOffset, n);
            case LEAKY_RELU -> leakyRelu(x, xOffset, y, yOffset, n, alpha);
            case HARD_SIGMOID -> hardSigmoid(x, xOffset, y, yOffset, n, alpha, beta, false);
            case HARD_SWISH -> hardSigmoid(x, xOffset, y, yOffset, n, 1f / 6, 0.5f, true);
            case CLIP -> clip(x, xOffset, y, yOffset, n, alpha, beta);
            case AFFINE -> affine(x, xOffset, y, yOffset, n, alpha, beta);
            case SIGN,
                    EXP2,
                    EXPM1,
                    LOG2,
                    LOG1P,
                    SIN,
                    COS,
                    TAN,
                    ASIN,
                    ACOS,
                    ATAN,
                    SINH,
                    COSH,
                    ASINH,
                    ACOSH,
                    ATANH,
                    FLOOR,
                    CEIL,
                    ROUND,
                    TRUNC,
                    NOT,
                    BIT_NOT,
                    IS_NAN,
                    IS_INF,
                    SOFTPLUS,
                    SOFTSIGN,
                    ELU,
                    SELU,
                    CELU,
                    MISH,
                    THRESHOLDED_RELU,
                    SHRINK -> throw new IllegalArgumentException(op + " has no vector loop");
        }
    }

    private static void negate(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.NEG)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void absolute(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.ABS)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void root(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.SQRT)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void log(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.LOG)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void reciprocal(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector one = FloatVector.broadcast(SPECIES, 1);
        for (int i = 0; i < n; i += LANES) {
            one.div(FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void reciprocalRoot(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector one = FloatVector.broadcast(SPECIES, 1);
        for (int i = 0; i < n; i += LANES) {
            one.div(FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                            .lanewise(VectorOperators.SQRT))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void relu(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector zero = FloatVector.zero(SPECIES);
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .max(zero)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void leakyRelu(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n, float alpha) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            VectorMask<Float> negative = v.compare(VectorOperators.LT, 0);
            v.blend(v.mul(alpha), negative).intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void clip(
            MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n, float low, float high) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .max(low)
                    .min(high)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    static void affine(
            MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n, float factor, float addend) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector times = FloatVector.broadcast(SPECIES, factor);
        FloatVector plus = FloatVector.broadcast(SPECIES, addend);
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .fma(times, plus)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void hardSigmoid(
            MemorySegment x,
            long xOffset,
            MemorySegment y,
            long yOffset,
            int n,
            float alpha,
            float beta,
            boolean swish) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector times = FloatVector.broadcast(SPECIES, alpha);
        FloatVector plus = FloatVector.broadcast(SPECIES, beta);
        FloatVector one = FloatVector.broadcast(SPECIES, 1);
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector gate = v.fma(times, plus).min(1).max(0);
            gate.mul(swish ? v : one).intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void exp(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector rounder = FloatVector.broadcast(SPECIES, ROUNDER);
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector t = v.fma(FloatVector.broadcast(SPECIES, LOG2_E), rounder);
            FloatVector k = t.sub(rounder);
            FloatVector r = k.fma(FloatVector.broadcast(SPECIES, LN2_HIGH), v);
            r = k.fma(FloatVector.broadcast(SPECIES, LN2_LOW), r);
            FloatVector p = r.fma(FloatVector.broadcast(SPECIES, E6), FloatVector.broadcast(SPECIES, E5));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E4));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E3));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E2));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E1));
            p = p.mul(r).fma(r, r.add(1));
            IntVector bits =
                    t.reinterpretAsInts().lanewise(VectorOperators.LSHL, 23).add(HALF_BITS);
            p.mul(bits.reinterpretAsFloats())
                    .mul(2)
                    .blend(0, v.compare(VectorOperators.LT, EXP_LOW))
                    .blend(Float.POSITIVE_INFINITY, v.compare(VectorOperators.GT, EXP_HIGH))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    /** x / (1 + e^(factor x)), or 1 / (1 + e^(factor x)). */
    private static void gate(
            MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n, float factor, boolean timesX) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector rounder = FloatVector.broadcast(SPECIES, ROUNDER);
        FloatVector one = FloatVector.broadcast(SPECIES, 1);
        for (int i = 0; i < n; i += LANES) {
            FloatVector given = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector v = given.mul(factor);
            FloatVector t = v.fma(FloatVector.broadcast(SPECIES, LOG2_E), rounder);
            FloatVector k = t.sub(rounder);
            FloatVector r = k.fma(FloatVector.broadcast(SPECIES, LN2_HIGH), v);
            r = k.fma(FloatVector.broadcast(SPECIES, LN2_LOW), r);
            FloatVector p = r.fma(FloatVector.broadcast(SPECIES, E6), FloatVector.broadcast(SPECIES, E5));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E4));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E3));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E2));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E1));
            p = p.mul(r).fma(r, r.add(1));
            IntVector bits =
                    t.reinterpretAsInts().lanewise(VectorOperators.LSHL, 23).add(HALF_BITS);
            FloatVector e = p.mul(bits.reinterpretAsFloats())
                    .mul(2)
                    .blend(0, v.compare(VectorOperators.LT, EXP_LOW))
                    .blend(Float.POSITIVE_INFINITY, v.compare(VectorOperators.GT, EXP_HIGH));
            (timesX ? given : one).div(e.add(1)).intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    /** (1 + tanh u) / 2 is 1 / (1 + e^(-2u)). */
    private static void geluTanh(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector rounder = FloatVector.broadcast(SPECIES, ROUNDER);
        for (int i = 0; i < n; i += LANES) {
            FloatVector given = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector v = given.mul(given)
                    .fma(
                            FloatVector.broadcast(SPECIES, -0.044715f * TWO_SQRT_2_OVER_PI),
                            FloatVector.broadcast(SPECIES, -TWO_SQRT_2_OVER_PI))
                    .mul(given);
            FloatVector t = v.fma(FloatVector.broadcast(SPECIES, LOG2_E), rounder);
            FloatVector k = t.sub(rounder);
            FloatVector r = k.fma(FloatVector.broadcast(SPECIES, LN2_HIGH), v);
            r = k.fma(FloatVector.broadcast(SPECIES, LN2_LOW), r);
            FloatVector p = r.fma(FloatVector.broadcast(SPECIES, E6), FloatVector.broadcast(SPECIES, E5));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E4));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E3));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E2));
            p = p.fma(r, FloatVector.broadcast(SPECIES, E1));
            p = p.mul(r).fma(r, r.add(1));
            IntVector bits =
                    t.reinterpretAsInts().lanewise(VectorOperators.LSHL, 23).add(HALF_BITS);
            FloatVector e = p.mul(bits.reinterpretAsFloats())
                    .mul(2)
                    .blend(0, v.compare(VectorOperators.LT, EXP_LOW))
                    .blend(Float.POSITIVE_INFINITY, v.compare(VectorOperators.GT, EXP_HIGH));
            given.div(e.add(1)).intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    /** alpha tanh(beta x); ±alpha from |beta x| = 7.905 on, where f32 has no number between tanh and 1. */
    private static void tanh(
            MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n, float alpha, float beta) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .mul(beta);
            FloatVector s = v.mul(v);
            FloatVector p = s.fma(
                    FloatVector.broadcast(SPECIES, -2.76076847742355e-16f),
                    FloatVector.broadcast(SPECIES, 2.00018790482477e-13f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, -8.60467152213735e-11f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, 5.12229709037114e-08f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, 1.48572235717979e-05f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, 6.37261928875436e-04f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, 4.89352455891786e-03f)).mul(v);
            FloatVector q = s.fma(
                    FloatVector.broadcast(SPECIES, 1.19825839466702e-06f),
                    FloatVector.broadcast(SPECIES, 1.18534705686654e-04f));
            q = q.fma(s, FloatVector.broadcast(SPECIES, 2.26843463243900e-03f));
            q = q.fma(s, FloatVector.broadcast(SPECIES, 4.89352518554385e-03f));
            p.div(q)
                    .blend(1, v.compare(VectorOperators.GT, 7.905311f))
                    .blend(-1, v.compare(VectorOperators.LT, -7.905311f))
                    .mul(alpha)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void erf(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector s = v.mul(v);
            FloatVector p = s.fma(
                    FloatVector.broadcast(SPECIES, -2.72614225801306e-10f),
                    FloatVector.broadcast(SPECIES, 2.77068142495902e-08f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, -2.10102402082508e-06f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, -5.69250639462346e-05f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, -7.34990630326855e-04f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, -2.95459980854025e-03f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, -1.60960333262415e-02f)).mul(v);
            FloatVector q = s.fma(
                    FloatVector.broadcast(SPECIES, -1.45660718464996e-05f),
                    FloatVector.broadcast(SPECIES, -2.13374055278905e-04f));
            q = q.fma(s, FloatVector.broadcast(SPECIES, -1.68282697438203e-03f));
            q = q.fma(s, FloatVector.broadcast(SPECIES, -7.37332916720468e-03f));
            q = q.fma(s, FloatVector.broadcast(SPECIES, -1.42647390514189e-02f));
            p.div(q)
                    .blend(1, v.compare(VectorOperators.GT, 4))
                    .blend(-1, v.compare(VectorOperators.LT, -4))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void gelu(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector given = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector v = given.mul(SQRT_HALF);
            FloatVector s = v.mul(v);
            FloatVector p = s.fma(
                    FloatVector.broadcast(SPECIES, -2.72614225801306e-10f),
                    FloatVector.broadcast(SPECIES, 2.77068142495902e-08f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, -2.10102402082508e-06f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, -5.69250639462346e-05f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, -7.34990630326855e-04f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, -2.95459980854025e-03f));
            p = p.fma(s, FloatVector.broadcast(SPECIES, -1.60960333262415e-02f)).mul(v);
            FloatVector q = s.fma(
                    FloatVector.broadcast(SPECIES, -1.45660718464996e-05f),
                    FloatVector.broadcast(SPECIES, -2.13374055278905e-04f));
            q = q.fma(s, FloatVector.broadcast(SPECIES, -1.68282697438203e-03f));
            q = q.fma(s, FloatVector.broadcast(SPECIES, -7.37332916720468e-03f));
            q = q.fma(s, FloatVector.broadcast(SPECIES, -1.42647390514189e-02f));
            FloatVector half = given.mul(0.5f);
            p.div(q)
                    .blend(1, v.compare(VectorOperators.GT, 4))
                    .blend(-1, v.compare(VectorOperators.LT, -4))
                    .fma(half, half)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }
}
