package dev.tenon.cuda.kernel;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.fn.UnaryFn;

/** The numbers by which kernels know the functions of one float: {@code unary_fn.cuh}, with which a test compares them. They are stated, not counted, so that a new function does not renumber the others. */
public final class UnaryCodes {
    /** No function: the argument as it is. */
    public static final int NONE = 0;

    private UnaryCodes() {}

    /** @throws UnsupportedException for {@code NOT} and {@code BIT_NOT}, which take no floats */
    public static int of(UnaryFn fn) {
        return switch (fn) {
            case NEG -> 1;
            case ABS -> 2;
            case SIGN -> 3;
            case SQRT -> 4;
            case RSQRT -> 5;
            case RECIPROCAL -> 6;
            case EXP -> 7;
            case EXP2 -> 8;
            case EXPM1 -> 9;
            case LOG -> 10;
            case LOG2 -> 11;
            case LOG1P -> 12;
            case SIN -> 13;
            case COS -> 14;
            case TAN -> 15;
            case ASIN -> 16;
            case ACOS -> 17;
            case ATAN -> 18;
            case SINH -> 19;
            case COSH -> 20;
            case TANH -> 21;
            case ASINH -> 22;
            case ACOSH -> 23;
            case ATANH -> 24;
            case ERF -> 25;
            case FLOOR -> 26;
            case CEIL -> 27;
            case ROUND -> 28;
            case TRUNC -> 29;
            case IS_NAN -> 30;
            case IS_INF -> 31;
            case RELU -> 32;
            case LEAKY_RELU -> 33;
            case GELU -> 34;
            case GELU_TANH -> 35;
            case SILU -> 36;
            case SIGMOID -> 37;
            case HARD_SIGMOID -> 38;
            case HARD_SWISH -> 39;
            case SOFTPLUS -> 40;
            case SOFTSIGN -> 41;
            case ELU -> 42;
            case SELU -> 43;
            case CELU -> 44;
            case MISH -> 45;
            case THRESHOLDED_RELU -> 46;
            case SHRINK -> 47;
            case CLIP -> 48;
            case AFFINE -> 49;
            case SCALED_TANH -> 50;
            case NOT, BIT_NOT -> throw new UnsupportedException(fn + " is no function of floats");
        };
    }
}
