package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Functions of one number over whole vectors: n is a multiple of their length. One loop a function, with the whole of
 * it written out: a loop over about 30 vector operations is still compiled well, a call that is not inlined boxes.
 *
 * <p>{@link dev.tenon.core.ir.op.elementwise.UnaryAccuracy} states how near results are.
 */
final class VectorUnary {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final Class<?> NATIVE = Segments.NATIVE;
    private static final int LANES = SPECIES.length();

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
                    SCALED_TANH,
                    SIN,
                    COS,
                    TAN,
                    ASIN,
                    ACOS,
                    ATAN,
                    SINH,
                    COSH,
                    EXPM1,
                    LOG1P,
                    EXP2,
                    SOFTPLUS,
                    ELU,
                    SELU,
                    CELU,
                    MISH -> true;
            case SIGN,
                    LOG2,
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
                    SOFTSIGN,
                    THRESHOLDED_RELU,
                    SHRINK -> false;
        };
    }

    /**
     * Whether {@link #run} has the function with those parameters: {@code SILU} reaches its limits by way of 131 /
     * alpha.
     */
    static boolean takes(Unary op) {
        return has(op.fn()) && (op.fn() != UnaryFn.SILU || Math.abs(op.alpha()) > 0x1p-30);
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
            case EXP -> VectorExponentials.exp(x, xOffset, y, yOffset, n);
            case SIGMOID -> VectorExponentials.gate(x, xOffset, y, yOffset, n, 1, false);
            case SILU -> VectorExponentials.gate(x, xOffset, y, yOffset, n, alpha, true);
            case GELU_TANH -> VectorExponentials.geluTanh(x, xOffset, y, yOffset, n);
            case TANH -> VectorExponentials.tanh(x, xOffset, y, yOffset, n, 1, 1);
            case SCALED_TANH -> VectorExponentials.tanh(x, xOffset, y, yOffset, n, alpha, beta);
            case ERF -> VectorExponentials.erf(x, xOffset, y, yOffset, n);
            case GELU -> VectorExponentials.gelu(x, xOffset, y, yOffset, n);
            case RELU -> relu(x, xOffset, y, yOffset, n);
            case LEAKY_RELU -> leakyRelu(x, xOffset, y, yOffset, n, alpha);
            case HARD_SIGMOID -> hardSigmoid(x, xOffset, y, yOffset, n, alpha, beta);
            case HARD_SWISH -> hardSwish(x, xOffset, y, yOffset, n);
            case CLIP -> clip(x, xOffset, y, yOffset, n, alpha, beta);
            case AFFINE -> affine(x, xOffset, y, yOffset, n, alpha, beta);
            case EXP2 -> VectorExponentials.powerOfTwo(x, xOffset, y, yOffset, n);
            case SOFTPLUS -> VectorExponentials.softplus(x, xOffset, y, yOffset, n);
            case ELU -> VectorExponentials.elu(x, xOffset, y, yOffset, n, alpha, 1, 1);
            case SELU -> VectorExponentials.elu(x, xOffset, y, yOffset, n, (float) (op.alpha() * op.beta()), beta, 1);
            case CELU -> VectorExponentials.elu(x, xOffset, y, yOffset, n, alpha, 1, alpha);
            case MISH -> VectorExponentials.mish(x, xOffset, y, yOffset, n);
            case SIN -> sine(x, xOffset, y, yOffset, n);
            case COS -> cosine(x, xOffset, y, yOffset, n);
            case TAN -> tangent(x, xOffset, y, yOffset, n);
            case ASIN -> arcSine(x, xOffset, y, yOffset, n);
            case ACOS -> arcCosine(x, xOffset, y, yOffset, n);
            case ATAN -> arcTangent(x, xOffset, y, yOffset, n);
            case SINH -> hyperbolicSine(x, xOffset, y, yOffset, n);
            case COSH -> hyperbolicCosine(x, xOffset, y, yOffset, n);
            case EXPM1 -> VectorExponentials.expMinusOne(x, xOffset, y, yOffset, n);
            case LOG1P -> VectorExponentials.logOnePlus(x, xOffset, y, yOffset, n);
            case SIGN,
                    LOG2,
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
                    SOFTSIGN,
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

    private static void sine(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.SIN)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void cosine(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.COS)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void tangent(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.TAN)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void arcSine(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.ASIN)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void arcCosine(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.ACOS)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void arcTangent(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.ATAN)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void hyperbolicSine(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.SINH)
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void hyperbolicCosine(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER)
                    .lanewise(VectorOperators.COSH)
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
        float limit = alpha == 0 ? -0f : Float.NEGATIVE_INFINITY * alpha;
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            VectorMask<Float> negative = v.compare(VectorOperators.LT, 0);
            v.blend(v.mul(alpha), negative)
                    .blend(limit, v.compare(VectorOperators.EQ, Float.NEGATIVE_INFINITY))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
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
            MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n, float alpha, float beta) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector times = FloatVector.broadcast(SPECIES, alpha);
        FloatVector plus = FloatVector.broadcast(SPECIES, beta);
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            v.fma(times, plus).min(1).max(0).intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    /** x + 3 is exact near -3, where x/6 + 1/2 cancels; and the product with 0 has its limit at -inf. */
    private static void hardSwish(MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        if (x.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromMemorySegment(SPECIES, x, xOffset + 4L * i, ORDER);
            FloatVector gate = v.add(3).min(6).mul(1f / 6);
            v.mul(gate).blend(-0f, v.compare(VectorOperators.LE, -3)).intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }
}
