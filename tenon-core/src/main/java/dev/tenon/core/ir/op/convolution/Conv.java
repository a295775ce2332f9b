package dev.tenon.core.ir.op.convolution;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.Contraction;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.reference.Windows;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Cross-correlation in N spatial dims, zero padded. [x [B,C,...], w [O,C/groups,...], bias? [O], residual? like the
 * result].
 *
 * <p>{@code y[b,o,p] = sum over c, i of w[o,c,i] x[b, c of o's group, p stride - before + i dilation]}, then the
 * epilogue. A spatial dim of the result is {@code floor((in + before + after - (kernel - 1) dilation - 1) / stride) +
 * 1}. Cells in padding are left out: an infinite weight adds nothing there. All operands have one float type. No
 * channels, or an input of padding alone, give zeros, and the epilogue still applies. ONNX Conv-11, its auto_pad worked
 * out by the importer.
 */
public record Conv(
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        long groups,
        Epilogue epilogue)
        implements Primitive, Contraction {
    private static final String NAME = "conv";

    public Conv {
        strides = List.copyOf(strides);
        padsBefore = List.copyOf(padsBefore);
        padsAfter = List.copyOf(padsAfter);
        dilations = List.copyOf(dilations);
        Windows.check(NAME, strides, padsBefore, padsAfter, dilations);
        long count = groups;
        Expect.shape(count >= 1, NAME, () -> "groups need to be 1 or more: " + count);
    }

    @Override
    public Conv with(Epilogue replaced) {
        return new Conv(strides, padsBefore, padsAfter, dilations, groups, replaced);
    }

    @Override
    public boolean takesResidualFirst() {
        return true;
    }

    @Override
    public int biasAxis(int rank) {
        return 1;
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2 + epilogue.inputs());
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(NAME, inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape result = shape(windows(inputs.get(1)), groups, inputs.get(0), inputs.get(1));
        epilogue.checkShapes(NAME, inputs, result.dim(1), result);
        return List.of(result);
    }

    private Windows windows(Shape weights) {
        return windows(NAME, weights, strides, padsBefore, padsAfter, dilations);
    }

    /** The windows of a convolution with such weights, [O,C/groups,...] or [C,O/groups,...]. */
    static Windows windows(
            String op,
            Shape weights,
            List<Long> strides,
            List<Long> padsBefore,
            List<Long> padsAfter,
            List<Long> dilations) {
        Rules.rank(op, "w", weights, strides.size() + 2);
        List<Dim> kernel = weights.dims().subList(2, weights.rank());
        for (Dim dim : kernel) {
            Expect.shape(!dim.is(0), op, () -> "the kernel of w " + weights + " is empty");
        }
        return new Windows(op, kernel, strides, padsBefore, padsAfter, dilations, false);
    }

    /** The shape of a convolution's result. */
    static Shape shape(Windows windows, long groups, Shape x, Shape w) {
        windows.checkRank("x", x);
        Dim channels = w.dim(1).times(Dim.of(groups));
        Expect.shape(
                x.dim(1).mayEqual(channels),
                windows.op(),
                () -> "channels differ: x " + x + ", w " + w + ", " + groups + " group(s); expected x dim 1 = "
                        + channels);
        Dim results = w.dim(0);
        Expect.shape(
                !results.isFixed() || results.size() % groups == 0,
                windows.op(),
                () -> "w dim 0 of " + w + " is not a multiple of " + groups + " groups");
        return Shape.of(x.dim(0), results).concat(Shape.of(windows.counts(x)));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray result = Rules.result(this, inputs);
        double[] x = inputs.get(0).toDoubles();
        double[] w = inputs.get(1).toDoubles();
        Shape xShape = inputs.get(0).shape();
        Shape wShape = inputs.get(1).shape();
        Shape shape = result.shape();
        Windows windows = windows(wShape);
        int area = Windows.area(shape);
        int areaX = Windows.area(xShape);
        int channels = SizeMath.toInt(NAME, wShape.size(1));
        int results = SizeMath.toInt(NAME, wShape.size(0));
        int cells = windows.cells();
        for (int position = 0; position < area; position++) {
            int[] at = windows.locate(position, Windows.spatial(shape), Windows.spatial(xShape));
            for (int bo = 0; bo < shape.elements(0, 2); bo++) {
                int batch = bo / results;
                int o = bo % results;
                int group = (int) (o / (results / groups));
                double sum = 0;
                for (int c = 0; c < channels; c++) {
                    int channel = (int) ((batch * groups + group) * channels + c);
                    for (int cell = 0; cell < cells; cell++) {
                        if (at[cell] >= 0) {
                            sum += w[(o * channels + c) * cells + cell] * x[channel * areaX + at[cell]];
                        }
                    }
                }
                result.set(bo * area + position, sum);
            }
        }
        epilogue.apply(result, inputs, i -> i / area % results);
        return List.of(result);
    }
}
