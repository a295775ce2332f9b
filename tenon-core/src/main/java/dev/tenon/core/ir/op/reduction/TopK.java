package dev.tenon.core.ir.op.reduction;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.IntegerMath;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The k largest (or smallest) of an axis, in order, and their i64 indices; the lower index first on ties; NaN counts as
 * the largest. Without {@code sorted} a backend may give them in any order.
 *
 * <p>[x] → [values, indices], both of x's shape with k along the axis; any number type. k is from 0 to the axis's size.
 * ONNX TopK-11.
 */
public record TopK(long k, int axis, boolean largest, boolean sorted) implements Primitive {
    public TopK {
        Rules.fromFront("top_k", axis);
        if (k < 0) {
            throw new ShapeException("top_k: k is " + k + "; expected 0 or more");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameNumeric(mnemonic(), inputs), DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.axis(mnemonic(), axis, x);
        Dim dim = x.dim(axis);
        if (dim.isFixed() && k > dim.size()) {
            throw new ShapeException(
                    mnemonic() + ": k is " + k + " for axis " + axis + " of " + x + "; expected at most " + dim);
        }
        Shape y = x.with(axis, Dim.of(k));
        return List.of(y, y);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        List<TensorType> types = Rules.results(this, inputs);
        NdArray values = NdArray.zeros(types.get(0));
        NdArray indices = NdArray.zeros(types.get(1));
        int size = SizeMath.toInt("top_k", x.shape().size(axis));
        Indexing.forEachLane(x.shape(), axis, (base, stride) -> {
            // the sort is stable, so the lower index stays first among equals
            List<Integer> order = IntStream.range(0, size)
                    .boxed()
                    .sorted((a, b) -> {
                        int ascending = order(x, base + a * stride, base + b * stride);
                        return largest ? -ascending : ascending;
                    })
                    .toList();
            int inLane = base % stride;
            int lane = base / (size * stride);
            for (int i = 0; i < k; i++) {
                int to = (int) (lane * k + i) * stride + inLane;
                values.copy(to, x, base + order.get(i) * stride);
                indices.set(to, (long) order.get(i));
            }
        });
        return List.of(values, indices);
    }

    /** The order of two elements; NaN is above all and equal to itself, both zeros are equal. */
    static int order(NdArray x, int a, int b) {
        if (!x.dtype().isFloat()) {
            return IntegerMath.order(x.dtype(), x.getLong(a), x.getLong(b));
        }
        double one = x.get(a);
        double other = x.get(b);
        return one == other ? 0 : Double.compare(one, other);
    }
}
