package dev.tenon.core.ir.op.contraction;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.rule.Expect;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What a contraction does to its result before writing it: add a bias (one number per column, or per output channel),
 * apply an activation, add a residual of the result's shape; in that order, or with the residual before the activation.
 *
 * @param activation null for none; one of the functions whose result has its argument's type
 * @param residualFirst whether the residual is added before the activation; there are both then
 */
public record Epilogue(boolean bias, @Nullable Unary activation, boolean residual, boolean residualFirst) {
    public static final Epilogue NONE = new Epilogue(false, null, false, false);

    public Epilogue {
        boolean both = residual && activation != null;
        Expect.shape(
                both || !residualFirst,
                "epilogue",
                () -> "a residual before the activation needs a residual and an activation");
        if (activation != null) {
            UnaryFn fn = activation.fn();
            Expect.dtype(
                    fn != UnaryFn.NOT && fn != UnaryFn.BIT_NOT && fn != UnaryFn.IS_NAN && fn != UnaryFn.IS_INF,
                    "epilogue",
                    () -> "the activation takes floats to floats; " + fn + " does not");
        }
    }

    public Epilogue withBias() {
        return new Epilogue(true, activation, residual, residualFirst);
    }

    /** With an activation behind what there is, so behind a residual too. */
    public Epilogue withActivation(Unary applied) {
        return new Epilogue(bias, applied, residual, residual);
    }

    /** With a residual behind what there is. */
    public Epilogue withResidual() {
        return new Epilogue(bias, activation, true, false);
    }

    /** How many inputs beside the two operands: bias first, then the residual. */
    public int inputs() {
        return (bias ? 1 : 0) + (residual ? 1 : 0);
    }

    public boolean isEmpty() {
        return !bias && activation == null && !residual;
    }

    /** Checks the type that the contraction gives; the operands' own are the contraction's to check. */
    void checkType(String op, DType dtype) {
        Expect.dtype(
                activation == null || dtype.isFloat(),
                op,
                () -> "an activation in the epilogue takes floats; operands are " + dtype);
    }

    /** Checks the bias and the residual among a contraction's inputs, which follow the two operands. */
    public void checkShapes(String op, List<Shape> inputs, Dim channels, Shape result) {
        if (bias) {
            Expect.same(op, "bias", inputs.get(2), Shape.of(channels));
        }
        if (residual) {
            Expect.same(op, "residual", inputs.get(bias ? 3 : 2), result);
        }
    }

    /** Applies itself to a contraction's result, in place; {@code channelOf} tells an element's index in the bias. */
    public void apply(NdArray result, List<NdArray> inputs, IntUnaryOperator channelOf) {
        for (int i = 0; i < result.size(); i++) {
            int channel = bias ? channelOf.applyAsInt(i) : 0;
            if (result.dtype().isFloat()) {
                double value = result.get(i) + (bias ? inputs.get(2).get(channel) : 0);
                double added = residual ? inputs.getLast().get(i) : 0;
                value += residualFirst ? added : 0;
                value = activation == null ? value : activation.apply(value);
                result.set(i, residualFirst ? value : value + added);
            } else {
                long value = result.getLong(i) + (bias ? inputs.get(2).getLong(channel) : 0);
                result.set(i, value + (residual ? inputs.getLast().getLong(i) : 0));
            }
        }
    }
}
