package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.movement.BitCast;
import java.util.List;
import java.util.function.BinaryOperator;

/** Functions of one and of several numbers, comparisons, casts. */
final class ElementwiseMapping {
    private ElementwiseMapping() {}

    static List<Value> map(NodeContext n) {
        return List.of(result(n));
    }

    private static Value result(NodeContext n) {
        return switch (n.op()) {
            case "Abs" -> unary(n, UnaryFn.ABS);
            case "Acos" -> unary(n, UnaryFn.ACOS);
            case "Acosh" -> unary(n, UnaryFn.ACOSH);
            case "Asin" -> unary(n, UnaryFn.ASIN);
            case "Asinh" -> unary(n, UnaryFn.ASINH);
            case "Atan" -> unary(n, UnaryFn.ATAN);
            case "Atanh" -> unary(n, UnaryFn.ATANH);
            case "BitwiseNot" -> unary(n, UnaryFn.BIT_NOT);
            case "Ceil" -> unary(n, UnaryFn.CEIL);
            case "Cos" -> unary(n, UnaryFn.COS);
            case "Cosh" -> unary(n, UnaryFn.COSH);
            case "Erf" -> unary(n, UnaryFn.ERF);
            case "Exp" -> unary(n, UnaryFn.EXP);
            case "Floor" -> unary(n, UnaryFn.FLOOR);
            case "IsNaN" -> unary(n, UnaryFn.IS_NAN);
            case "Log" -> unary(n, UnaryFn.LOG);
            case "Mish" -> unary(n, UnaryFn.MISH);
            case "Neg" -> unary(n, UnaryFn.NEG);
            case "Not" -> unary(n, UnaryFn.NOT);
            case "Reciprocal" -> unary(n, UnaryFn.RECIPROCAL);
            case "Relu" -> unary(n, UnaryFn.RELU);
            case "Round" -> unary(n, UnaryFn.ROUND);
            case "Sigmoid" -> unary(n, UnaryFn.SIGMOID);
            case "Sign" -> unary(n, UnaryFn.SIGN);
            case "Sin" -> unary(n, UnaryFn.SIN);
            case "Sinh" -> unary(n, UnaryFn.SINH);
            case "Softplus" -> unary(n, UnaryFn.SOFTPLUS);
            case "Softsign" -> unary(n, UnaryFn.SOFTSIGN);
            case "Sqrt" -> unary(n, UnaryFn.SQRT);
            case "Tan" -> unary(n, UnaryFn.TAN);
            case "Tanh" -> unary(n, UnaryFn.TANH);
            case "Celu" -> unary(n, UnaryFn.CELU, n.attrFloat("alpha", 1), 0);
            case "Elu" -> unary(n, UnaryFn.ELU, n.attrFloat("alpha", 1), 0);
            case "HardSigmoid" -> unary(n, UnaryFn.HARD_SIGMOID, n.attrFloat("alpha", 0.2f), n.attrFloat("beta", 0.5));
            case "HardSwish" -> unary(n, UnaryFn.HARD_SWISH);
            case "LeakyRelu" -> unary(n, UnaryFn.LEAKY_RELU, n.attrFloat("alpha", 0.01f), 0);
            case "Selu" -> selu(n);
            case "Shrink" -> unary(n, UnaryFn.SHRINK, n.attrFloat("lambd", 0.5), n.attrFloat("bias", 0));
            case "Swish" -> unary(n, UnaryFn.SILU, n.attrFloat("alpha", 1), 0);
            case "ThresholdedRelu" -> unary(n, UnaryFn.THRESHOLDED_RELU, n.attrFloat("alpha", 1), 0);
            case "Gelu" -> unary(n, gelu(n));
            case "IsInf" -> isInf(n);
            case "Clip" -> n.since(11) ? clip(n) : clipByAttributes(n);
            case "Add" -> binary(n, BinaryFn.ADD);
            case "Sub" -> binary(n, BinaryFn.SUB);
            case "Mul" -> binary(n, BinaryFn.MUL);
            case "Div" -> binary(n, BinaryFn.DIV);
            case "And" -> binary(n, BinaryFn.AND);
            case "Or" -> binary(n, BinaryFn.OR);
            case "Xor" -> binary(n, BinaryFn.XOR);
            case "BitwiseAnd" -> binary(n, BinaryFn.BIT_AND);
            case "BitwiseOr" -> binary(n, BinaryFn.BIT_OR);
            case "BitwiseXor" -> binary(n, BinaryFn.BIT_XOR);
            case "BitShift" -> binary(n, shift(n));
            case "Mod" -> binary(n, n.attrFlag("fmod", false) ? BinaryFn.FMOD : BinaryFn.MOD);
            case "Pow" -> pow(n);
            case "PRelu" -> prelu(n);
            case "Equal" -> compare(n, CompareFn.EQ);
            case "Greater" -> compare(n, CompareFn.GT);
            case "GreaterOrEqual" -> compare(n, CompareFn.GE);
            case "Less" -> compare(n, CompareFn.LT);
            case "LessOrEqual" -> compare(n, CompareFn.LE);
            case "Max" -> fold(n, (a, b) -> n.binary(BinaryFn.MAX, a, b));
            case "Min" -> fold(n, (a, b) -> n.binary(BinaryFn.MIN, a, b));
            case "Sum" -> fold(n, n::add);
            case "Mean" -> mean(n);
            case "Where" -> n.where(n.in(0), n.in(1), n.in(2));
            case "Cast" -> cast(n, n.attrType("to"));
            case "CastLike" -> cast(n, n.in(1).dtype());
            case "BitCast" -> n.add(new BitCast(n.attrType("to")), n.in(0));
            default -> throw OnnxOps.unlisted(n);
        };
    }

    private static Value unary(NodeContext n, UnaryFn fn) {
        return n.unary(fn, n.in(0));
    }

    private static Value unary(NodeContext n, UnaryFn fn, double alpha, double beta) {
        return n.add(new Unary(fn, alpha, beta), n.in(0));
    }

    private static Value selu(NodeContext n) {
        return unary(
                n,
                UnaryFn.SELU,
                n.attrFloat("alpha", n.since(6) ? 1.6732632f : 1.6732f),
                n.attrFloat("gamma", n.since(6) ? 1.050701f : 1.0507f));
    }

    private static UnaryFn gelu(NodeContext n) {
        return switch (n.attrString("approximate", "none")) {
            case "none" -> UnaryFn.GELU;
            case "tanh" -> UnaryFn.GELU_TANH;
            default -> throw n.error("the approximation \"" + n.attrString("approximate", "") + "\" is not known");
        };
    }

    private static Value isInf(NodeContext n) {
        return unary(
                n,
                UnaryFn.IS_INF,
                n.attrFlag("detect_positive", true) ? 1 : 0,
                n.attrFlag("detect_negative", true) ? 1 : 0);
    }

    private static Value clipByAttributes(NodeContext n) {
        // the defaults are the largest finite floats, so infinities are clipped too
        return unary(n, UnaryFn.CLIP, n.attrFloat("min", -Float.MAX_VALUE), n.attrFloat("max", Float.MAX_VALUE));
    }

    /**
     * Bounds as scalar inputs, either may be missing; constant bounds of floats become parameters, so that fusion sees
     * one operation.
     */
    private static Value clip(NodeContext n) {
        Value x = n.in(0);
        NdArray low = n.known(1);
        NdArray high = n.known(2);
        boolean settled = (low != null || !n.has(1)) && (high != null || !n.has(2));
        if (x.dtype().isFloat() && settled && (low != null || high != null)) {
            return unary(
                    n,
                    UnaryFn.CLIP,
                    low == null ? Double.NEGATIVE_INFINITY : low.get(0),
                    high == null ? Double.POSITIVE_INFINITY : high.get(0));
        }
        Value above = n.has(1) ? n.binary(BinaryFn.MAX, x, n.in(1)) : x;
        return n.has(2) ? n.binary(BinaryFn.MIN, above, n.in(2)) : above;
    }

    private static Value binary(NodeContext n, BinaryFn fn) {
        return n.binary(fn, n.in(0), second(n));
    }

    private static Value compare(NodeContext n, CompareFn fn) {
        return n.compare(fn, n.in(0), second(n));
    }

    /** The second operand; before opset 7 it was aligned with the first by an axis, not by the last dim. */
    private static Value second(NodeContext n) {
        Value b = n.in(1);
        if (n.since(7) || !n.hasAttr("axis") || n.attrInt("axis") == -1) {
            return b;
        }
        Value a = n.in(0);
        int trailing = n.rank(a) - n.axis(a, n.attrInt("axis")) - n.rank(b);
        return trailing <= 0 ? b : trailingOnes(n, b, trailing);
    }

    private static Value trailingOnes(NodeContext n, Value b, int count) {
        List<Long> axes = new java.util.ArrayList<>();
        for (int i = 1; i <= count; i++) {
            axes.add((long) -i);
        }
        return ShapeChanges.unsqueeze(n, b, axes);
    }

    private static BinaryFn shift(NodeContext n) {
        return switch (n.attrString("direction", "")) {
            case "LEFT" -> BinaryFn.SHL;
            case "RIGHT" -> BinaryFn.SHR;
            default -> throw n.error("the direction must be LEFT or RIGHT");
        };
    }

    /** The result has the base's type; an integer base with a fractional exponent is raised as a float. */
    private static Value pow(NodeContext n) {
        Value base = n.in(0);
        Value exponent = second(n);
        if (base.dtype().isInteger() && exponent.dtype().isFloat()) {
            Value power = n.binary(BinaryFn.POW, n.cast(base, DType.F64), n.cast(exponent, DType.F64));
            return n.cast(power, base.dtype());
        }
        return n.binary(BinaryFn.POW, base, n.cast(exponent, base.dtype()));
    }

    private static Value prelu(NodeContext n) {
        Value slope = n.in(1);
        // before opset 7 a slope a channel stood without the dims behind it
        boolean byChannel =
                !n.since(7) && n.rank(slope) == 1 && !slope.shape().dim(0).is(1);
        Value fitting = byChannel ? trailingOnes(n, slope, n.rank(n.in(0)) - 2) : slope;
        return ShapeChanges.fitted(n, n.binary(BinaryFn.PRELU, n.in(0), fitting), n.in(0), "slope " + slope.type());
    }

    private static Value fold(NodeContext n, BinaryOperator<Value> fn) {
        if (n.inputs() == 0) {
            throw n.error("input 0 is missing");
        }
        return n.all().stream().reduce(fn).orElseThrow();
    }

    private static Value mean(NodeContext n) {
        Value sum = fold(n, n::add);
        return n.inputs() == 1 ? sum : n.div(sum, n.scalar(sum.dtype(), n.inputs()));
    }

    private static Value cast(NodeContext n, DType to) {
        Value x = n.in(0);
        if (x.dtype().isFloat() && to.bits() < 8) {
            // out of range is undefined; the reference wraps, and integers do
            return n.cast(n.cast(x, DType.I32), to);
        }
        return x.dtype() == to ? x : n.add(new Cast(to, n.attrFlag("saturate", true)), x);
    }
}
