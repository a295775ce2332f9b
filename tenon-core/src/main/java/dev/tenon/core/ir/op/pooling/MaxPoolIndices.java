package dev.tenon.core.ir.op.pooling;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.reference.Windows;
import dev.tenon.core.ir.rule.Expect;
import java.util.List;

/**
 * Maximum over windows and the flat i64 index of each within the whole input. [x [B,C,...]] -> [y, indices]. ONNX
 * MaxPool's second output (MaxPool-12).
 *
 * <p>Shapes, types and values as {@link Pool}'s maximum. The index is the first maximum's, or the first NaN's; with
 * {@code columnMajor} the spatial dims (not the first two) are counted with the first one fastest.
 */
public record MaxPoolIndices(
        List<Long> kernel,
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        boolean ceil,
        boolean columnMajor)
        implements Primitive {
    private static final String NAME = "max_pool_indices";

    public MaxPoolIndices {
        kernel = List.copyOf(kernel);
        strides = List.copyOf(strides);
        padsBefore = List.copyOf(padsBefore);
        padsAfter = List.copyOf(padsAfter);
        dilations = List.copyOf(dilations);
        Windows.check(NAME, strides, padsBefore, padsAfter, dilations);
        Windows.checkKernel(NAME, kernel, strides);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = inputs.getFirst();
        Expect.dtype(dtype.isNumeric(), NAME, () -> "x is " + dtype + "; expected a float type or an integer");
        return List.of(dtype, DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        windows().checkRank("x", x);
        windows().requireInput(x);
        Shape result = x.range(0, 2).concat(Shape.of(windows().counts(x)));
        return List.of(result, result);
    }

    private Windows windows() {
        return new Windows(NAME, Windows.dims(kernel), strides, padsBefore, padsAfter, dilations, ceil);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        List<NdArray> results = Expect.results(this, inputs);
        NdArray maxima = results.get(0);
        NdArray indices = results.get(1);
        NdArray x = inputs.getFirst();
        long[] sizes = Windows.spatial(x.shape());
        int area = Windows.area(maxima.shape());
        int areaX = Windows.area(x.shape());
        for (int position = 0; position < area; position++) {
            int[] at = windows().locate(position, Windows.spatial(maxima.shape()), sizes);
            for (int plane = 0; plane < x.shape().elements(0, 2); plane++) {
                int to = plane * area + position;
                int best = Pool.maximum(x, plane * areaX, at);
                maxima.copy(to, x, best);
                int within = best - plane * areaX;
                indices.set(to, plane * (long) areaX + (columnMajor ? firstFastest(within, sizes) : within));
            }
        }
        return results;
    }

    /** The index with the first dim fastest of what {@code flat} is with the last one fastest. */
    private static long firstFastest(int flat, long[] sizes) {
        long index = 0;
        long rest = flat;
        for (int axis = sizes.length - 1; axis >= 0; axis--) {
            long at = rest % sizes[axis];
            rest /= sizes[axis];
            // every dim before this one is faster, so what was gathered from the dims behind it moves up
            index = index * sizes[axis] + at;
        }
        return index;
    }
}
