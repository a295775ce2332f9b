package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Locale;

/**
 * One function of one number, element by element; the parameters are those the function's constant documents, 0 where it has none.
 *
 * <p>[x] → [y], of x's shape. Floats take every function but {@code NOT} and {@code BIT_NOT}; integers {@code NEG ABS SIGN RELU CLIP BIT_NOT}, wrapping; booleans {@code NOT}. The result has x's type; of {@code IS_NAN} and {@code IS_INF}
 * it is bool. NaN in, NaN out. At an infinity every
 * activation has its limit: gelu(-inf), silu(-inf) and mish(-inf) are 0, softsign(inf) is 1. {@link UnaryAccuracy} says how near backends come.
 */
public record Unary(UnaryFn fn, double alpha, double beta) implements Primitive {
    public Unary {
        switch (fn) {
            case LEAKY_RELU, HARD_SIGMOID, ELU, SELU, THRESHOLDED_RELU, SHRINK, CLIP, AFFINE, SCALED_TANH, IS_INF -> {}
            case SILU, CELU -> {
                if (alpha == 0) {
                    throw new ShapeException(word(fn) + ": alpha is 0; expected another number, 1 for the usual form");
                }
            }
            case NEG,
                    ABS,
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
                    ROUND,
                    TRUNC,
                    NOT,
                    BIT_NOT,
                    IS_NAN,
                    RELU,
                    GELU,
                    GELU_TANH,
                    SIGMOID,
                    HARD_SWISH,
                    SOFTPLUS,
                    SOFTSIGN,
                    MISH -> {
                if (alpha != 0 || beta != 0) {
                    throw new ShapeException(word(fn) + ": has no parameters; expected alpha 0 and beta 0, got " + alpha
                            + " and " + beta);
                }
            }
        }
    }

    /** A function without parameters. */
    public static Unary of(UnaryFn fn) {
        return new Unary(fn, 0, 0);
    }

    /** x sigmoid(x). */
    public static Unary silu() {
        return new Unary(UnaryFn.SILU, 1, 0);
    }

    String word() {
        return word(fn);
    }

    private static String word(UnaryFn fn) {
        return fn.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType x = inputs.getFirst();
        return List.of(
                switch (fn) {
                    case NOT -> Rules.require(word(), "input", x, type -> type == DType.BOOL, "bool");
                    case BIT_NOT -> Rules.require(word(), "input", x, DType::isInteger, "an integer type");
                    case NEG, ABS, SIGN, RELU, CLIP ->
                        Rules.require(word(), "input", x, DType::isNumeric, "a number type");
                    case IS_NAN, IS_INF -> {
                        Rules.require(word(), "input", x, DType::isFloat, "a float type");
                        yield DType.BOOL;
                    }
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
                            SCALED_TANH -> Rules.require(word(), "input", x, DType::isFloat, "a float type");
                });
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return inputs;
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        boolean floats = x.dtype().isFloat();
        for (int i = 0; i < y.size(); i++) {
            if (floats) {
                y.set(i, ScalarMath.apply(this, x.get(i)));
            } else {
                y.set(i, ScalarMath.apply(this, x.dtype(), x.getLong(i)));
            }
        }
        return List.of(y);
    }
}
