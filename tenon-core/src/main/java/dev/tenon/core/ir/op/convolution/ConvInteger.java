package dev.tenon.core.ir.op.convolution;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.reference.Windows;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Conv of 8-bit values less their zero points, in i32; padding stands for the zero point. [x, w, zx? scalar, zw? scalar
 * or [O]]. ONNX ConvInteger-10.
 *
 * <p>Shapes as {@link Conv}'s. x and w are u8 or i8, each zero point of its operand's type, in a shape of {@code []} or
 * {@code [1]}, zw's also {@code [O]}. Sums wrap.
 */
public record ConvInteger(
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        long groups,
        boolean zeroPointX,
        boolean zeroPointW)
        implements Primitive {
    private static final String NAME = "conv_integer";

    public ConvInteger {
        strides = List.copyOf(strides);
        padsBefore = List.copyOf(padsBefore);
        padsAfter = List.copyOf(padsAfter);
        dilations = List.copyOf(dilations);
        Windows.check(NAME, strides, padsBefore, padsAfter, dilations);
        long count = groups;
        Expect.shape(count >= 1, NAME, () -> "groups need to be 1 or more: " + count);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2 + (zeroPointX ? 1 : 0) + (zeroPointW ? 1 : 0));
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        for (DType dtype : inputs) {
            Expect.dtype(
                    dtype == DType.U8 || dtype == DType.I8,
                    NAME,
                    () -> "operands are " + inputs + "; expected u8 or i8");
        }
        if (zeroPointX) {
            Expect.same(NAME, "x zero point", inputs.get(2), inputs.get(0));
        }
        if (zeroPointW) {
            Expect.same(NAME, "w zero point", inputs.getLast(), inputs.get(1));
        }
        return List.of(DType.I32);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape w = inputs.get(1);
        Windows windows = Conv.windows(NAME, w, strides, padsBefore, padsAfter, dilations);
        Shape result = Conv.shape(windows, groups, inputs.get(0), w);
        if (zeroPointX) {
            Rules.broadcastsTo(NAME, "x zero point", inputs.get(2), Shape.of(1));
        }
        if (zeroPointW) {
            Rules.broadcastsTo(NAME, "w zero point", inputs.getLast(), Shape.of(w.dim(0)));
        }
        return List.of(result);
    }

    /** Through {@link Conv} in float64, exact as long as there are fewer than 2^36 products in a sum. */
    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray result = Rules.result(this, inputs);
        NdArray zeroX = zeroPointX ? inputs.get(2) : NdArray.ofLongs(0);
        NdArray zeroW = zeroPointW ? inputs.getLast() : NdArray.ofLongs(0);
        NdArray x = less(inputs.get(0), zeroX);
        NdArray w = less(inputs.get(1), zeroW);
        NdArray sums = new Conv(strides, padsBefore, padsAfter, dilations, groups, Epilogue.NONE)
                .evaluate(List.of(x, w))
                .getFirst();
        for (int i = 0; i < result.size(); i++) {
            result.set(i, sums.getLong(i));
        }
        return List.of(result);
    }

    /** The differences as f64, one zero point for all or for each index of the first dim. */
    private static NdArray less(NdArray x, NdArray zeroPoint) {
        NdArray difference = NdArray.zeros(new TensorType(DType.F64, x.shape()));
        int each = Math.max(1, x.size() / Math.max(1, zeroPoint.size()));
        for (int i = 0; i < x.size(); i++) {
            difference.set(i, (double) (x.getLong(i) - zeroPoint.getLong(i / each)));
        }
        return difference;
    }
}
