package dev.tenon.core.ir.fn;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Functions of one number, and all that is true of each: the types it takes, its parameters, its code, its accuracy,
 * its meaning. A new function is a constant, a case in {@link #apply(double, double, double)}, and a loop or a case in
 * each backend (docs/adding-an-op.md).
 *
 * <p>NaN in, NaN out, for {@code RELU} and {@code CLIP} too; none overflows inside where its result is finite; at an
 * infinity each has its limit.
 */
public enum UnaryFn {
    NEG(1, IntegerRule.NEGATE),
    ABS(2, IntegerRule.MAGNITUDE),
    /** -1, 0, 1; of a zero, that zero. */
    SIGN(3, IntegerRule.SIGN),
    SQRT(4, 0.5),
    RSQRT(5, 2),
    RECIPROCAL(6, 0.5),
    EXP(7, 2),
    EXP2(8, 2),
    EXPM1(9, 2),
    LOG(10, 2),
    LOG2(11, 2),
    LOG1P(12, 2),
    SIN(13, 2),
    COS(14, 2),
    TAN(15, 4),
    ASIN(16, 2),
    ACOS(17, 2),
    ATAN(18, 2),
    SINH(19, 3),
    COSH(20, 2),
    TANH(21, 3),
    ASINH(22, 3),
    ACOSH(23, 4),
    ATANH(24, 3),
    ERF(25, 2),
    FLOOR(26, 0.5),
    CEIL(27, 0.5),
    /** Half to even. */
    ROUND(28, 0.5),
    TRUNC(29, 0.5),
    /** Of a boolean. */
    NOT(61, Accepts.BOOL, IntegerRule.NOT),
    /** Of an integer. */
    BIT_NOT(62, Accepts.INTEGER, IntegerRule.COMPLEMENT),
    IS_NAN(30, 0.5),
    /** alpha != 0: positive infinity counts; beta != 0: negative infinity counts. */
    IS_INF(31, 0.5, ParameterRule.ANY, 1, 1),
    RELU(32, IntegerRule.NOT_NEGATIVE),
    /** x where x >= 0, else alpha x; 0 at -inf where alpha is 0. */
    LEAKY_RELU(33, 0.5, ParameterRule.ANY, 0.25, 0, 0.01f, 0, 0, 0),
    /** x/2 (1 + erf(x / sqrt 2)). At worst 5.8 ulp, at -3.44889. */
    GELU(34, 6),
    /** x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). */
    GELU_TANH(35, 4),
    /** x sigmoid(alpha x); SiLU with alpha 1: {@code Unary}. */
    SILU(36, 4, ParameterRule.ALPHA_NOT_ZERO, 1, 0, 1.702f, 0, -0.01f, 0),
    SIGMOID(37, 3),
    /** max(0, min(1, alpha x + beta)). */
    HARD_SIGMOID(38, 0.5, ParameterRule.ANY, 0.25, 0.5, 0.2f, 0.5),
    /** x max(0, min(1, x/6 + 1/2)); has no parameters. */
    HARD_SWISH(39, 3),
    SOFTPLUS(40, 3),
    SOFTSIGN(41, 2),
    /** x where x >= 0, else alpha (e^x - 1). */
    ELU(42, 3, ParameterRule.ANY, 1, 0, 1.5, 0),
    /** beta (x where x >= 0, else alpha (e^x - 1)). */
    SELU(43, 4, ParameterRule.ANY, 1.6732632f, 1.050701f),
    /** max(0, x) + min(0, alpha (e^(x/alpha) - 1)). */
    CELU(44, 4, ParameterRule.ALPHA_NOT_ZERO, 1, 0, 1.3f, 0),
    MISH(45, 4),
    /** x where x > alpha, else 0. */
    THRESHOLDED_RELU(46, 0.5, ParameterRule.ANY, 0.25, 0),
    /** x + beta where x < -alpha, x - beta where x > alpha, else 0. */
    SHRINK(47, 0.5, ParameterRule.ANY, 0.5, 0.25),
    /** min(max(x, alpha), beta). */
    CLIP(48, IntegerRule.CLIP, ParameterRule.ANY, -1, 6),
    /** alpha x + beta: the affine activation of recurrent layers. */
    AFFINE(49, 0.5, ParameterRule.ANY, 2, -0.75, 0.3f, 0.7f),
    /** alpha tanh(beta x). */
    SCALED_TANH(50, 4, ParameterRule.ANY, 1.7159f, 0.6666667f);

    /** An argument pair (alpha, beta) of a function with parameters. */
    public record Parameters(double alpha, double beta) {}

    private final int code;
    private final Accepts accepts;
    private final double ulp;
    private final @Nullable IntegerRule integers;
    private final ParameterRule parameters;

    @SuppressWarnings("ImmutableEnumChecker") // never written after construction, copied when read
    private final double[] typical;

    /** A function of floats without parameters. */
    UnaryFn(int code, double ulp) {
        this(code, Accepts.FLOAT, ulp, null, ParameterRule.NONE);
    }

    /** A function of floats with parameters, of which {@code typical} lists pairs. */
    UnaryFn(int code, double ulp, ParameterRule parameters, double... typical) {
        this(code, Accepts.FLOAT, ulp, null, parameters, typical);
    }

    /** A function of numbers, rounded once. */
    UnaryFn(int code, IntegerRule integers) {
        this(code, Accepts.NUMBER, 0.5, integers, ParameterRule.NONE);
    }

    UnaryFn(int code, IntegerRule integers, ParameterRule parameters, double... typical) {
        this(code, Accepts.NUMBER, 0.5, integers, parameters, typical);
    }

    /** A function of integers or booleans alone. */
    UnaryFn(int code, Accepts accepts, IntegerRule integers) {
        this(code, accepts, 0.5, integers, ParameterRule.NONE);
    }

    UnaryFn(
            int code,
            Accepts accepts,
            double ulp,
            @Nullable IntegerRule integers,
            ParameterRule parameters,
            double... typical) {
        this.code = code;
        this.accepts = accepts;
        this.ulp = ulp;
        this.integers = integers;
        this.parameters = parameters;
        this.typical = typical;
    }

    /** Returns the name in messages and in the text form: {@code leaky_relu}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the number by which kernels know the function, above 0. It is stated, not counted: a new function does
     * not renumber the others.
     */
    public int code() {
        return code;
    }

    /** Returns the types of the argument. */
    public Accepts accepts() {
        return accepts;
    }

    /** Returns the type of the result for an argument of that type. */
    public DType result(DType argument) {
        return isTest() ? DType.BOOL : argument;
    }

    /** Returns whether the result is a boolean, whatever the argument's type. */
    public boolean isTest() {
        return this == IS_NAN || this == IS_INF;
    }

    /** Returns how far every backend's result in f32 may be from the exact one, in units in the last place. */
    public double ulp() {
        return ulp;
    }

    /**
     * Checks parameters.
     *
     * @throws dev.tenon.core.error.ShapeException for parameters that the function does not have, or an alpha of 0
     *     where another is asked for
     */
    public void check(double alpha, double beta) {
        parameters.check(word(), alpha, beta);
    }

    /**
     * Returns the parameters to test with, all numbers of f32: the usual ones first, one pair of zeros where there are
     * none.
     */
    public List<Parameters> typical() {
        if (parameters == ParameterRule.NONE) {
            return List.of(new Parameters(0, 0));
        }
        List<Parameters> pairs = new ArrayList<>();
        for (int i = 0; i < typical.length; i += 2) {
            pairs.add(new Parameters(typical[i], typical[i + 1]));
        }
        return List.copyOf(pairs);
    }

    /**
     * Returns the function of an integer or a boolean, sign- or zero-extended from its type, exact modulo 2^64.
     *
     * @throws UnsupportedException for a function of floats alone
     */
    public long apply(DType dtype, long x, double alpha, double beta) {
        if (integers == null) {
            throw new UnsupportedException(word() + ": takes floats, has " + dtype);
        }
        return integers.apply(dtype, x, alpha, beta);
    }

    /**
     * Returns the function of a float; {@code IS_NAN} and {@code IS_INF} give 1 or 0. One switch, which loops compile
     * as well as a single function where they apply only one.
     */
    public double apply(double x, double alpha, double beta) {
        return switch (this) {
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
            case LOG2 -> Formulas.log2(x);
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
            case ASINH -> Formulas.asinh(x);
            case ACOSH -> Formulas.acosh(x);
            case ATANH -> Math.copySign(0.5 * Math.log1p(2 * Math.abs(x) / (1 - Math.abs(x))), x);
            case ERF -> ErrorFunction.erf(x);
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
            case LEAKY_RELU -> x >= 0 ? x : Formulas.gated(x, alpha);
            case GELU -> Formulas.gelu(x);
            // (1 + tanh u) / 2 is Formulas.sigmoid(2u), which does not cancel for negative u
            case GELU_TANH ->
                Formulas.gated(x, Formulas.sigmoid(2 * Formulas.SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)));
            case SILU -> Formulas.gated(x, Formulas.sigmoid(alpha * x));
            case SIGMOID -> Formulas.sigmoid(x);
            case HARD_SIGMOID -> Formulas.hardSigmoid(x, alpha, beta);
            // x + 3 is exact near -3, where x/6 + 1/2 cancels
            case HARD_SWISH -> Formulas.gated(x, Math.max(0.0, Math.min(6.0, x + 3)) / 6);
            case SOFTPLUS -> Formulas.softplus(x);
            case SOFTSIGN -> Double.isInfinite(x) ? Math.signum(x) : x / (1 + Math.abs(x));
            case ELU -> Formulas.elu(x, alpha);
            case SELU -> beta * Formulas.elu(x, alpha);
            case CELU -> x >= 0 ? x : alpha * Math.expm1(x / alpha);
            case MISH -> Formulas.gated(x, Math.tanh(Formulas.softplus(x)));
            case THRESHOLDED_RELU -> x > alpha || Double.isNaN(x) ? x : 0;
            case SHRINK -> x < -alpha ? x + beta : x > alpha ? x - beta : Double.isNaN(x) ? x : 0;
            case CLIP -> Math.min(Math.max(x, alpha), beta);
            case AFFINE -> alpha * x + beta;
            case SCALED_TANH -> alpha * Math.tanh(beta * x);
        };
    }
}
