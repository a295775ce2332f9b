package dev.tenon.core.ir.op.reduction;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Where the maximum or minimum of an axis is; the first on ties, or the last. NaN wins, whichever is looked for.
 *
 * <p>[x] → [i64]: x's shape without the axis, or with 1 in its place. Any number type. An empty axis with a non-empty
 * result is an error. ONNX ArgMax-13, ArgMin-13.
 */
public record ArgReduce(boolean max, int axis, boolean keepDims, boolean last) implements Primitive {
    public ArgReduce {
        Rules.fromFront("arg_reduce", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.sameNumeric(mnemonic(), inputs);
        return List.of(DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.axis(mnemonic(), axis, x);
        Shape y = keepDims ? x.with(axis, Dim.of(1)) : x.without(axis);
        if (x.dim(axis).is(0) && y.isConcrete() && y.elements() > 0) {
            throw new ShapeException(
                    mnemonic() + ": axis " + axis + " of " + x + " is empty; expected an element to point at");
        }
        return List.of(y);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        int size = SizeMath.toInt("arg_reduce", x.shape().size(axis));
        int inner = SizeMath.toInt(
                "arg_reduce", x.shape().elements(axis + 1, x.shape().rank()));
        for (int lane = 0; lane < y.size(); lane++) {
            int base = lane / inner * size * inner + lane % inner;
            int best = 0;
            for (int i = 1; i < size; i++) {
                int order = order(x, base + i * inner, base + best * inner);
                best = order > 0 || (last && order == 0) ? i : best;
            }
            y.set(lane, (long) best);
        }
        return List.of(y);
    }

    /** Whether element a beats element b (above 0), ties with it (0) or not. */
    private int order(NdArray x, int a, int b) {
        boolean nanA = x.dtype().isFloat() && Double.isNaN(x.get(a));
        boolean nanB = x.dtype().isFloat() && Double.isNaN(x.get(b));
        if (nanA || nanB) {
            return Boolean.compare(nanA, nanB);
        }
        int order = TopK.order(x, a, b);
        return max ? order : -order;
    }
}
