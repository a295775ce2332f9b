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
import java.util.ArrayList;
import java.util.List;

/**
 * The gradient of Conv with respect to its input, used as an upsampling. [x [B,C,...], w [C,O/groups,...], bias? [O],
 * residual?].
 *
 * <p>Each x[b,c,p] adds w[c,o,i] times itself to {@code y[b, o of c's group, p stride - before + i dilation]}, where
 * that lies in y; then the epilogue. A spatial dim of the result is {@code (in - 1) stride + outputPadding + (kernel -
 * 1) dilation + 1 - before - after}. All operands have one float type. ONNX ConvTranspose-11, its output_shape and
 * auto_pad worked out by the importer.
 */
public record ConvTranspose(
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        List<Long> outputPadding,
        long groups,
        Epilogue epilogue)
        implements Primitive, Contraction {
    private static final String NAME = "conv_transpose";

    public ConvTranspose {
        strides = List.copyOf(strides);
        padsBefore = List.copyOf(padsBefore);
        padsAfter = List.copyOf(padsAfter);
        dilations = List.copyOf(dilations);
        List<Long> padding = List.copyOf(outputPadding);
        outputPadding = padding;
        Windows.check(NAME, strides, padsBefore, padsAfter, dilations);
        Expect.shape(
                padding.size() == strides.size() && Windows.within(0, padding),
                NAME,
                () -> "output padding is " + padding + "; expected one element of 0 or more for each spatial dim");
        long count = groups;
        Expect.shape(count >= 1, NAME, () -> "groups need to be 1 or more: " + count);
    }

    @Override
    public ConvTranspose with(Epilogue replaced) {
        return new ConvTranspose(strides, padsBefore, padsAfter, dilations, outputPadding, groups, replaced);
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
        Shape x = inputs.get(0);
        Shape w = inputs.get(1);
        Windows windows = Conv.windows(NAME, w, strides, padsBefore, padsAfter, dilations);
        windows.checkRank("x", x);
        Dim channels = Expect.dim(NAME, "w", w, 0, x.dim(1));
        Expect.shape(
                !channels.isFixed() || channels.size() % groups == 0,
                NAME,
                () -> "channels of x " + x + " are not a multiple of " + groups + " groups");
        List<Dim> dims = new ArrayList<>();
        for (int axis = 0; axis < strides.size(); axis++) {
            dims.add(extent(x, w, axis));
        }
        Dim results = w.dim(1).times(Dim.of(groups));
        Shape result = Shape.of(x.dim(0), results).concat(Shape.of(dims));
        epilogue.checkShapes(NAME, inputs, results, result);
        return List.of(result);
    }

    private Dim extent(Shape x, Shape w, int axis) {
        Dim input = x.dim(axis + 2);
        Dim kernel = w.dim(axis + 2);
        if (!kernel.isFixed()) {
            return Dim.unknown();
        }
        long stride = strides.get(axis);
        long grown = SizeMath.sum(
                NAME,
                outputPadding.get(axis),
                SizeMath.product(NAME, kernel.size() - 1, dilations.get(axis)),
                1 - padsBefore.get(axis) - padsAfter.get(axis) - stride);
        if (!input.isFixed()) {
            return stride == 1 && grown == 0 ? input : Dim.unknown();
        }
        long extent = SizeMath.sum(NAME, SizeMath.product(NAME, input.size(), stride), grown);
        Expect.shape(
                extent >= 0,
                NAME,
                () -> "dim " + (axis + 2) + " of the result of x " + x + " and w " + w + " would be " + extent);
        return Dim.of(extent);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray result = Rules.result(this, inputs);
        double[] x = inputs.get(0).toDoubles();
        double[] w = inputs.get(1).toDoubles();
        Shape xShape = inputs.get(0).shape();
        Shape wShape = inputs.get(1).shape();
        // the windows of the convolution whose gradient this is: they slide over the result, one position an element of
        // x
        Windows windows = Conv.windows(NAME, wShape, strides, padsBefore, padsAfter, dilations);
        int area = Windows.area(result.shape());
        int areaX = Windows.area(xShape);
        int channels = SizeMath.toInt(NAME, xShape.size(1));
        int results = SizeMath.toInt(NAME, wShape.size(1));
        int cells = windows.cells();
        for (int position = 0; position < areaX; position++) {
            int[] at = windows.locate(position, Windows.spatial(xShape), Windows.spatial(result.shape()));
            for (int bc = 0; bc < xShape.elements(0, 2); bc++) {
                int c = bc % channels;
                int group = (int) (c / (channels / groups));
                double value = x[bc * areaX + position];
                for (int o = 0; o < results; o++) {
                    int channel = (int) ((bc / channels * groups + group) * results + o);
                    for (int cell = 0; cell < cells; cell++) {
                        if (at[cell] >= 0) {
                            int to = channel * area + at[cell];
                            result.set(to, result.get(to) + value * w[(c * results + o) * cells + cell]);
                        }
                    }
                }
            }
        }
        int all = SizeMath.toInt(NAME, result.shape().size(1));
        epilogue.apply(result, inputs, i -> i / area % all);
        return List.of(result);
    }
}
