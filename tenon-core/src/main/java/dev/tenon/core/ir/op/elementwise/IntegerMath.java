package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.fn.BinaryFn;

/** The integer half of {@link ScalarMath}. Results are exact modulo 2^64, so wrapping them to the type gives the type's own arithmetic. */
public final class IntegerMath {
    private IntegerMath() {}

    /** The order of two integers of a type; only u64 differs from that of the longs. */
    public static int order(DType dtype, long a, long b) {
        return dtype == DType.U64 ? Long.compareUnsigned(a, b) : Long.compare(a, b);
    }

    static long apply(Unary op, DType dtype, long x) {
        return switch (op.fn()) {
            case NEG -> -x;
            case ABS -> dtype.isUnsigned() ? x : Math.abs(x);
            case SIGN -> dtype.isUnsigned() ? Math.min(1, Long.bitCount(x)) : Long.signum(x);
            case RELU -> dtype.isUnsigned() ? x : Math.max(x, 0);
            case CLIP -> least(dtype, greatest(dtype, x, bound(dtype, op.alpha())), bound(dtype, op.beta()));
            case BIT_NOT -> ~x;
            case NOT -> x == 0 ? 1 : 0;
            case SQRT,
                    RSQRT,
                    RECIPROCAL,
                    EXP,
                    EXP2,
                    EXPM1,
                    LOG,
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
                    TANH,
                    ASINH,
                    ACOSH,
                    ATANH,
                    ERF,
                    FLOOR,
                    CEIL,
                    ROUND,
                    TRUNC,
                    IS_NAN,
                    IS_INF,
                    LEAKY_RELU,
                    GELU,
                    GELU_TANH,
                    SILU,
                    SIGMOID,
                    HARD_SIGMOID,
                    HARD_SWISH,
                    SOFTPLUS,
                    SOFTSIGN,
                    ELU,
                    SELU,
                    CELU,
                    MISH,
                    THRESHOLDED_RELU,
                    SHRINK,
                    AFFINE,
                    SCALED_TANH -> throw new UnsupportedException(op.word() + ": takes floats, has " + dtype);
        };
    }

    static long apply(BinaryFn fn, DType dtype, long a, long b) {
        boolean unsigned = dtype.isUnsigned();
        return switch (fn) {
            case ADD -> a + b;
            case SUB -> a - b;
            case MUL -> a * b;
            case DIV -> unsigned ? Long.divideUnsigned(a, divisor(fn, dtype, b)) : a / divisor(fn, dtype, b);
            case FLOOR_DIV ->
                unsigned ? Long.divideUnsigned(a, divisor(fn, dtype, b)) : Math.floorDiv(a, divisor(fn, dtype, b));
            case MOD ->
                unsigned ? Long.remainderUnsigned(a, divisor(fn, dtype, b)) : Math.floorMod(a, divisor(fn, dtype, b));
            case FMOD -> unsigned ? Long.remainderUnsigned(a, divisor(fn, dtype, b)) : a % divisor(fn, dtype, b);
            case POW -> pow(dtype, a, b);
            case PRELU -> unsigned || a >= 0 ? a : b * a;
            case MAX -> greatest(dtype, a, b);
            case MIN -> least(dtype, a, b);
            case AND -> a != 0 && b != 0 ? 1 : 0;
            case OR -> a != 0 || b != 0 ? 1 : 0;
            case XOR -> (a != 0) != (b != 0) ? 1 : 0;
            case BIT_AND -> a & b;
            case BIT_OR -> a | b;
            case BIT_XOR -> a ^ b;
            case SHL -> wide(dtype, b) ? 0 : a << b;
            case SHR -> wide(dtype, b) ? (!unsigned && a < 0 ? -1 : 0) : unsigned ? a >>> b : a >> b;
            case ATAN2 -> throw new UnsupportedException("atan2: takes floats, has " + dtype);
        };
    }

    private static long greatest(DType dtype, long a, long b) {
        return order(dtype, a, b) >= 0 ? a : b;
    }

    private static long least(DType dtype, long a, long b) {
        return order(dtype, a, b) <= 0 ? a : b;
    }

    private static long bound(DType dtype, double value) {
        return Elements.toLong(dtype, Elements.fromDouble(dtype, value));
    }

    /** Whether a shift moves every bit out; a negative count does. */
    private static boolean wide(DType dtype, long count) {
        return Long.compareUnsigned(count, dtype.bits()) >= 0;
    }

    private static long divisor(BinaryFn fn, DType dtype, long b) {
        if (b == 0) {
            throw new DataException(
                    Binary.word(fn) + ": division of " + dtype + " by zero; expected a divisor other than 0");
        }
        return b;
    }

    private static long pow(DType dtype, long base, long exponent) {
        if (!dtype.isUnsigned() && exponent < 0) {
            if (base == 0) {
                throw new DataException("pow: 0 to the power " + exponent + " has no value in " + dtype
                        + "; expected an exponent of 0 or more");
            }
            // the truncated quotient 1 / base^|exponent| is 0 but for the units
            return base == 1 ? 1 : base == -1 ? ((exponent & 1) == 0 ? 1 : -1) : 0;
        }
        long power = 1;
        long square = base;
        for (long rest = exponent; rest != 0; rest >>>= 1) {
            if ((rest & 1) != 0) {
                power *= square;
            }
            square *= square;
        }
        return power;
    }
}
