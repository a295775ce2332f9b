package dev.tenon.core.ir.op.pooling;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.reference.Windows;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Pooling over windows in N spatial dims: maximum, average or Lp norm (with {@code p}). [x [B,C,...]].
 *
 * <p>A spatial dim of the result is {@code floor((in + before + after - (kernel - 1) dilation - 1) / stride) + 1}, or
 * with {@code ceil} rounded up, less a last window that would start past the input and the padding before it. The type
 * is x's: a float, for the maximum also an integer.
 *
 * <p>The average divides by the cells inside the input, or with {@code countPadding} by those inside the padded input;
 * cells of the last window past the padding count for neither. The maximum skips padding and is NaN where it meets one.
 * A window of padding alone has neither a maximum nor an average of the input: it is an error. The norm
 * {@code (sum |x|^p)^(1/p)} skips padding too. ONNX MaxPool-12, AveragePool-19, LpPool-18.
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
        Windows.checkKernel(NAME, kernel, strides);
        long exponent = p;
        Expect.shape(fn != PoolFn.LP || exponent >= 1, NAME, () -> "p needs to be 1 or more: " + exponent);
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
        // the norm of nothing is 0, and an average that counts padding has something to count
        if (fn == PoolFn.MAX || (fn == PoolFn.AVERAGE && !countPadding)) {
            windows().requireInput(x);
        }
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
        int planes = SizeMath.toInt(NAME, x.shape().elements(0, 2));
        for (int position = 0; position < area; position++) {
            int[] at = windows().locate(position, Windows.spatial(result.shape()), Windows.spatial(x.shape()));
            for (int plane = 0; plane < planes; plane++) {
                int to = plane * area + position;
                if (fn == PoolFn.MAX) {
                    result.copy(to, x, maximum(x, plane * areaX, at));
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
        return sum / count;
    }

    private double norm(NdArray x, int start, int[] at) {
        double sum = 0;
        for (int cell : at) {
            sum += cell >= 0 ? Math.pow(Math.abs(x.get(start + cell)), (double) p) : 0;
        }
        return p == 2 ? Math.sqrt(sum) : Math.pow(sum, 1.0 / p);
    }

    /** The index in x of the first maximum of a window, or of its first NaN; the window has a cell in the input. */
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
