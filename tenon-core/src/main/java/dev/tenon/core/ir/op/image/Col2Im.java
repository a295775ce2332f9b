package dev.tenon.core.ir.op.image;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.reference.Windows;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Adds up the blocks that an image was taken apart into, each where it came from; what fell on padding is lost.
 *
 * <p>[x [B,C block,positions]] → [y [B,C,image...]] of x's type, where {@code block} is the product of the block's
 * sizes and {@code positions} the number of places that it has on the padded image. A scatter with addition. ONNX
 * Col2Im-18.
 */
public record Col2Im(
        List<Long> image,
        List<Long> block,
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations)
        implements Composite {
    private static final String NAME = "col2_im";

    public Col2Im {
        image = List.copyOf(image);
        block = List.copyOf(block);
        strides = List.copyOf(strides);
        padsBefore = List.copyOf(padsBefore);
        padsAfter = List.copyOf(padsAfter);
        dilations = List.copyOf(dilations);
        Windows.check(NAME, strides, padsBefore, padsAfter, dilations);
        Windows.checkKernel(NAME, block, strides);
        List<Long> sizes = image;
        int axes = strides.size();
        Expect.shape(
                sizes.size() == axes && Windows.atLeast(1, sizes),
                NAME,
                () -> "image " + sizes + " needs " + axes + " sizes of 1 or more");
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameNumeric(NAME, inputs));
    }

    private Windows windows() {
        return new Windows(NAME, Windows.dims(block), strides, padsBefore, padsAfter, dilations, false);
    }

    /** The positions of the block, along each spatial dim. */
    private Shape counts() {
        Shape whole = Shape.of(1, 1).concat(Shape.ofSizes(image));
        return Shape.of(windows().counts(whole));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.rank(NAME, "x", x, 3);
        Dim channels = Rules.divide(NAME, "x dim 1", x.dim(1), windows().cells());
        Expect.dim(NAME, "x", x, 2, Dim.of(counts().elements()));
        return List.of(Shape.of(x.dim(0), channels).concat(Shape.ofSizes(image)));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value x = inputs.getFirst();
        Windows windows = windows();
        long[] counts = counts().sizes();
        int positions = SizeMath.toInt(NAME, counts().elements());
        int cells = windows.cells();
        long[] sizes = Shape.ofSizes(image).sizes();
        long area = Shape.of(sizes).elements();
        long batch = x.shape().size(0);
        long channels = x.shape().size(1) / cells;
        NdArray places = NdArray.zeros(DType.I64, (long) cells * positions, 1);
        for (int position = 0; position < positions; position++) {
            int[] at = windows.locate(position, counts, sizes);
            for (int cell = 0; cell < cells; cell++) {
                // one place more than the image has takes what falls outside
                places.set(cell * positions + position, at[cell] < 0 ? area : at[cell]);
            }
        }
        DType dtype = x.dtype();
        Value empty = g.constant(
                new ConstantData.Splat(TensorType.of(dtype, area + 1, batch, channels), Elements.fromDouble(dtype, 0)));
        Value blocks = g.add(Reshape.to(batch, channels, (long) cells * positions), x);
        Value sum = g.add(
                new ScatterNd(ScatterFn.ADD),
                empty,
                g.constant(places.toConstant()),
                g.add(Transpose.of(2, 0, 1), blocks));
        Value inside = g.add(Transpose.of(1, 2, 0), g.add(Slice.along(sum.shape(), 0, 0, area), sum));
        long[] result = shapes(List.of(x.shape())).getFirst().sizes();
        return List.of(g.add(Reshape.to(result), inside));
    }
}
