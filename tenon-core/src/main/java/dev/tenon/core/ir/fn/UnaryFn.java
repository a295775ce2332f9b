package dev.tenon.core.ir.fn;

/**
 * Functions of one number. NaN in, NaN out, for {@code RELU} and {@code CLIP} too; none overflows inside where its result is finite; at an infinity each has its limit. {@code UnaryAccuracy} states how near backends come.
 */
public enum UnaryFn {
    NEG,
    ABS,
    /** -1, 0, 1; of a zero, that zero. */
    SIGN,
    SQRT,
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
    /** Half to even. */
    ROUND,
    TRUNC,
    /** Of a boolean. */
    NOT,
    /** Of an integer. */
    BIT_NOT,
    IS_NAN,
    /** alpha != 0: positive infinity counts; beta != 0: negative infinity counts. */
    IS_INF,
    RELU,
    /** x where x >= 0, else alpha x; 0 at -inf where alpha is 0. */
    LEAKY_RELU,
    /** x/2 (1 + erf(x / sqrt 2)). */
    GELU,
    /** x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). */
    GELU_TANH,
    /** x sigmoid(alpha x); SiLU with alpha 1: {@code Unary}. */
    SILU,
    SIGMOID,
    /** max(0, min(1, alpha x + beta)). */
    HARD_SIGMOID,
    /** x max(0, min(1, x/6 + 1/2)); has no parameters. */
    HARD_SWISH,
    SOFTPLUS,
    SOFTSIGN,
    /** x where x >= 0, else alpha (e^x - 1). */
    ELU,
    /** beta (x where x >= 0, else alpha (e^x - 1)). */
    SELU,
    /** max(0, x) + min(0, alpha (e^(x/alpha) - 1)). */
    CELU,
    MISH,
    /** x where x > alpha, else 0. */
    THRESHOLDED_RELU,
    /** x + beta where x < -alpha, x - beta where x > alpha, else 0. */
    SHRINK,
    /** min(max(x, alpha), beta). */
    CLIP,
    /** alpha x + beta: the affine activation of recurrent layers. */
    AFFINE,
    /** alpha tanh(beta x). */
    SCALED_TANH
}
