package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/**
 * Pooling over windows in N spatial dims: maximum, average or Lp norm (with {@code p}). [x [B,C,...]].
 *
 * <p>A spatial dim of the result is {@code floor((in + before + after - (kernel - 1) dilation - 1) / stride) + 1}, or with {@code ceil} rounded up, less a last window that would start past the input and the padding before it. The type is
 * x's: a float, for the maximum also an integer.
 *
 * <p>The average divides by the cells inside the input, or with {@code countPadding} by those inside the padded input; cells of the last window past the padding count for neither, and no cells give 0. The maximum skips padding, gives -inf
 * (the least integer) where there is nothing else, and NaN where it meets one. The norm {@code (sum |x|^p)^(1/p)} skips padding too. ONNX MaxPool-12, AveragePool-19, LpPool-18.
 */
public record Pool(
        PoolFn fn,
        List<Long> kernel,
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        boolean ceil,
        boolean countPadding,
        long p)
        implements Primitive {
    private static final String NAME = "pool";

    public Pool {
        kernel = List.copyOf(kernel);
        strides = List.copyOf(strides);
        padsBefore = List.copyOf(padsBefore);
        padsAfter = List.copyOf(padsAfter);
        dilations = List.copyOf(dilations);
        Windows.check(NAME, strides, padsBefore, padsAfter, dilations);
        checkKernel(NAME, kernel, strides);
        long exponent = p;
        Expect.shape(fn != PoolFn.LP || exponent >= 1, NAME, () -> "p needs to be 1 or more: " + exponent);
    }

    static void checkKernel(String op, List<Long> kernel, List<Long> strides) {
        Expect.shape(
                kernel.size() == strides.size() && Windows.atLeast(1, kernel),
                op,
                () -> "kernel " + kernel + " needs one element of 1 or more for each spatial dim");
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = inputs.getFirst();
        Expect.dtype(
                dtype.isFloat() || (fn == PoolFn.MAX && dtype.isInteger()),
                NAME,
                () -> "x is " + dtype + "; expected a float type" + (fn == PoolFn.MAX ? " or an integer" : ""));
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        windows().checkRank("x", x);
        return List.of(x.range(0, 2).concat(Shape.of(windows().counts(x))));
    }

    private Windows windows() {
        return new Windows(NAME, Windows.dims(kernel), strides, padsBefore, padsAfter, dilations, ceil);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray result = Rules.result(this, inputs);
        NdArray x = inputs.getFirst();
        int area = Windows.area(result.shape());
        int areaX = Windows.area(x.shape());
        int planes = (int) x.shape().elements(0, 2);
        for (int position = 0; position < area; position++) {
            int[] at = windows().locate(position, Windows.spatial(result.shape()), Windows.spatial(x.shape()));
            for (int plane = 0; plane < planes; plane++) {
                int to = plane * area + position;
                if (fn == PoolFn.MAX) {
                    setMaximum(x, plane * areaX, at, result, to);
                } else {
                    result.set(to, fn == PoolFn.AVERAGE ? average(x, plane * areaX, at) : norm(x, plane * areaX, at));
                }
            }
        }
        return List.of(result);
    }

    private double average(NdArray x, int start, int[] at) {
        double sum = 0;
        int count = 0;
        for (int cell : at) {
            sum += cell >= 0 ? x.get(start + cell) : 0;
            count += cell >= 0 || (countPadding && cell == Windows.PADDING) ? 1 : 0;
        }
        return count == 0 ? 0 : sum / count;
    }

    private double norm(NdArray x, int start, int[] at) {
        double sum = 0;
        for (int cell : at) {
            sum += cell >= 0 ? Math.pow(Math.abs(x.get(start + cell)), (double) p) : 0;
        }
        return p == 2 ? Math.sqrt(sum) : Math.pow(sum, 1.0 / p);
    }

    private static void setMaximum(NdArray x, int start, int[] at, NdArray result, int to) {
        int best = maximum(x, start, at);
        if (best >= 0) {
            result.copy(to, x, best);
        } else {
            setLeast(result, to);
        }
    }

    /** Sets what a maximum of nothing is. */
    static void setLeast(NdArray result, int to) {
        if (result.dtype().isFloat()) {
            result.set(to, Double.NEGATIVE_INFINITY);
        } else {
            result.set(to, Elements.min(result.dtype()));
        }
    }

    /** The index in x of the first maximum of a window, or of its first NaN; -1 where the window has padding alone. */
    static int maximum(NdArray x, int start, int[] at) {
        int best = -1;
        for (int cell : at) {
            if (cell >= 0 && (best < 0 || beats(x, start + cell, best))) {
                best = start + cell;
            }
        }
        return best;
    }

    private static boolean beats(NdArray x, int challenger, int best) {
        if (x.dtype().isFloat()) {
            double value = x.get(best);
            return !Double.isNaN(value) && !(x.get(challenger) <= value);
        }
        return x.dtype() == DType.U64
                ? Long.compareUnsigned(x.getLong(challenger), x.getLong(best)) > 0
                : x.getLong(challenger) > x.getLong(best);
    }
}
