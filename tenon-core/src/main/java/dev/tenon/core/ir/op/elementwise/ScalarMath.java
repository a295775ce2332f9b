package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ErrorFunction;
import dev.tenon.core.ir.fn.UnaryFn;

/**
 * The elementwise functions on one number, as {@link UnaryFn}, {@link BinaryFn} and {@link CompareFn} document them: the one place that says what they mean. Integers are passed as {@code long} (sign- or zero-extended) with
 * their type, and the caller wraps the result to that type.
 */
public final class ScalarMath {
    private static final double LN2 = 0.6931471805599453;
    private static final double SQRT_HALF = 0.7071067811865476;
    /** What {@link #SQRT_HALF} lacks of the number. */
    private static final double SQRT_HALF_REST = -4.833646656726457e-17;

    private static final double SQRT_2_OVER_PI = 0.7978845608028654;
    private static final double TWO_OVER_SQRT_PI = 1.1283791670955126;
    /** Below its negative, gelu is less than half the smallest double. */
    private static final double GELU_TAIL = 40;

    private ScalarMath() {}

    /** A function of a float; {@code IS_NAN} and {@code IS_INF} give 1 or 0. */
    public static double apply(Unary op, double x) {
        double alpha = op.alpha();
        double beta = op.beta();
        return switch (op.fn()) {
            case NEG -> -x;
            case ABS -> Math.abs(x);
            case SIGN -> Math.signum(x);
            case SQRT -> Math.sqrt(x);
            case RSQRT -> 1 / Math.sqrt(x);
            case RECIPROCAL -> 1 / x;
            case EXP -> Math.exp(x);
            case EXP2 -> Math.pow(2, x);
            case EXPM1 -> Math.expm1(x);
            case LOG -> Math.log(x);
            case LOG2 -> log2(x);
            case LOG1P -> Math.log1p(x);
            case SIN -> Math.sin(x);
            case COS -> Math.cos(x);
            case TAN -> Math.tan(x);
            case ASIN -> Math.asin(x);
            case ACOS -> Math.acos(x);
            case ATAN -> Math.atan(x);
            case SINH -> Math.sinh(x);
            case COSH -> Math.cosh(x);
            case TANH -> Math.tanh(x);
            case ASINH -> asinh(x);
            case ACOSH -> acosh(x);
            case ATANH -> Math.copySign(0.5 * Math.log1p(2 * Math.abs(x) / (1 - Math.abs(x))), x);
            case ERF -> erf(x);
            case FLOOR -> Math.floor(x);
            case CEIL -> Math.ceil(x);
            case ROUND -> Math.rint(x);
            case TRUNC -> x < 0 ? Math.ceil(x) : Math.floor(x);
            case NOT -> x == 0 ? 1 : 0;
            case BIT_NOT -> ~(long) x;
            case IS_NAN -> Double.isNaN(x) ? 1 : 0;
            case IS_INF ->
                (x == Double.POSITIVE_INFINITY && alpha != 0) || (x == Double.NEGATIVE_INFINITY && beta != 0) ? 1 : 0;
            case RELU -> Math.max(x, 0.0);
            case LEAKY_RELU -> x >= 0 ? x : gated(x, alpha);
            case GELU -> gelu(x);
            // (1 + tanh u) / 2 is sigmoid(2u), which does not cancel for negative u
            case GELU_TANH -> gated(x, sigmoid(2 * SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)));
            case SILU -> gated(x, sigmoid(alpha * x));
            case SIGMOID -> sigmoid(x);
            case HARD_SIGMOID -> hardSigmoid(x, alpha, beta);
            // x + 3 is exact near -3, where x/6 + 1/2 cancels
            case HARD_SWISH -> gated(x, Math.max(0.0, Math.min(6.0, x + 3)) / 6);
            case SOFTPLUS -> softplus(x);
            case SOFTSIGN -> Double.isInfinite(x) ? Math.signum(x) : x / (1 + Math.abs(x));
            case ELU -> elu(x, alpha);
            case SELU -> beta * elu(x, alpha);
            case CELU -> x >= 0 ? x : alpha * Math.expm1(x / alpha);
            case MISH -> gated(x, Math.tanh(softplus(x)));
            case THRESHOLDED_RELU -> x > alpha || Double.isNaN(x) ? x : 0;
            case SHRINK -> x < -alpha ? x + beta : x > alpha ? x - beta : Double.isNaN(x) ? x : 0;
            case CLIP -> Math.min(Math.max(x, alpha), beta);
            case AFFINE -> alpha * x + beta;
            case SCALED_TANH -> alpha * Math.tanh(beta * x);
        };
    }

    /** A function of an integer or a boolean: {@code NEG ABS SIGN RELU CLIP BIT_NOT NOT}. @throws UnsupportedException for the others */
    public static long apply(Unary op, DType dtype, long x) {
        return IntegerMath.apply(op, dtype, x);
    }

    /** A function of two floats. */
    public static double apply(BinaryFn fn, double a, double b) {
        return switch (fn) {
            case ADD -> a + b;
            case SUB -> a - b;
            case MUL -> a * b;
            case DIV -> a / b;
            case FLOOR_DIV -> Math.floor(a / b);
            case MOD -> mod(a, b);
            case FMOD -> a % b;
            case POW -> pow(a, b);
            case PRELU -> a >= 0 ? a : b * a;
            case MAX -> Math.max(a, b);
            case MIN -> Math.min(a, b);
            case ATAN2 -> Math.atan2(a, b);
            case AND, OR, XOR, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR ->
                throw new UnsupportedException(Binary.word(fn) + ": takes integers or booleans, has floats");
        };
    }

    /** A function of two integers or booleans. @throws dev.tenon.core.error.DataException for division by zero, and zero to a negative power */
    public static long apply(BinaryFn fn, DType dtype, long a, long b) {
        return IntegerMath.apply(fn, dtype, a, b);
    }

    /** Compares two floats. */
    public static boolean compare(CompareFn fn, double a, double b) {
        return switch (fn) {
            case EQ -> a == b;
            case NE -> a != b;
            case LT -> a < b;
            case LE -> a <= b;
            case GT -> a > b;
            case GE -> a >= b;
        };
    }

    /** Compares two integers or booleans. */
    public static boolean compare(CompareFn fn, DType dtype, long a, long b) {
        int order = IntegerMath.order(dtype, a, b);
        return switch (fn) {
            case EQ -> order == 0;
            case NE -> order != 0;
            case LT -> order < 0;
            case LE -> order <= 0;
            case GT -> order > 0;
            case GE -> order >= 0;
        };
    }

    /** The error function, to less than one unit in the last place. */
    public static double erf(double x) {
        return ErrorFunction.erf(x);
    }

    /** 1 / (1 + e^-x); the exponential never overflows. */
    public static double sigmoid(double x) {
        double e = Math.exp(-Math.abs(x));
        return x >= 0 ? 1 / (1 + e) : e / (1 + e);
    }

    /** log(1 + e^x); the exponential never overflows. */
    public static double softplus(double x) {
        return Math.max(x, 0.0) + Math.log1p(Math.exp(-Math.abs(x)));
    }

    /** IEEE 754 pow; Java's own gives NaN for pow(1, NaN) and pow(-1, infinity), where the standard has 1. */
    public static double pow(double a, double b) {
        return a == 1 || (a == -1 && Double.isInfinite(b)) ? 1 : Math.pow(a, b);
    }

    /** The remainder that has the divisor's sign. */
    public static double mod(double a, double b) {
        double rest = a % b;
        if (rest == 0) {
            return Math.copySign(0.0, b);
        }
        return (rest < 0) == (b < 0) ? rest : rest + b;
    }

    /** x gate; the limit 0 where a gate of 0 meets an infinite x. */
    private static double gated(double x, double gate) {
        return gate == 0 && Double.isInfinite(x) ? Math.copySign(0.0, x) : x * gate;
    }

    /**
     * x/2 erfc(-x / sqrt 2): 1 + erf would cancel for negative x. erfc multiplies a relative error of its argument by x^2, so what the product rounds off is given back to first order.
     */
    private static double gelu(double x) {
        if (Math.abs(x) > GELU_TAIL) {
            return x > 0 ? x : -0.0;
        }
        double z = -x * SQRT_HALF;
        double rest = Math.fma(-x, SQRT_HALF, -z) - x * SQRT_HALF_REST;
        return 0.5 * x * (ErrorFunction.erfc(z) - TWO_OVER_SQRT_PI * Math.exp(-z * z) * rest);
    }

    private static double hardSigmoid(double x, double alpha, double beta) {
        return Math.max(0.0, Math.min(1.0, alpha * x + beta));
    }

    private static double elu(double x, double alpha) {
        return x >= 0 ? x : alpha * Math.expm1(x);
    }

    /** Exact for powers of two: the exponent is split off first. */
    private static double log2(double x) {
        if (!(x > 0) || Double.isInfinite(x)) {
            return Math.log(x);
        }
        double scaled = x < Double.MIN_NORMAL ? x * 0x1p54 : x;
        int exponent = Math.getExponent(scaled);
        double mantissa = Math.scalb(scaled, -exponent);
        if (mantissa > 2 * SQRT_HALF) {
            mantissa /= 2;
            exponent++;
        }
        return exponent - (x < Double.MIN_NORMAL ? 54 : 0) + Math.log(mantissa) / LN2;
    }

    private static double asinh(double x) {
        double a = Math.abs(x);
        return Math.copySign(a > 0x1p500 ? Math.log(a) + LN2 : Math.log1p(a + a * a / (1 + Math.sqrt(1 + a * a))), x);
    }

    private static double acosh(double x) {
        if (x < 1) {
            return Double.NaN; // far below, the terms of the formula cancel to 0
        }
        double t = x - 1;
        return x > 0x1p500 ? Math.log(x) + LN2 : Math.log1p(t + Math.sqrt(t * (t + 2)));
    }
}
