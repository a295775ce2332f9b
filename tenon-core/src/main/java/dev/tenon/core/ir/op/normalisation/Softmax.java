package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.reference.Summation;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * exp(x - max) / sum over one axis.
 *
 * <p>[x] → [y], of x's shape and float type. A row all -inf, or with +inf or NaN in it, is NaN, as the formula says;
 * other rows are untouched by it. ONNX Softmax-13.
 */
public record Softmax(int axis) implements Primitive {
    public Softmax {
        Rules.fromFront("softmax", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.axis(mnemonic(), axis, inputs.getFirst());
        return inputs;
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        int size = SizeMath.toInt("softmax", x.shape().size(axis));
        Indexing.forEachLane(x.shape(), axis, (base, stride) -> {
            double max = max(x, base, stride, size);
            double sum = Summation.sum(size, i -> Math.exp(x.get(base + i * stride) - max));
            for (int i = 0; i < size; i++) {
                y.set(base + i * stride, Math.exp(x.get(base + i * stride) - max) / sum);
            }
        });
        return List.of(y);
    }

    /** The largest of a lane, NaN where there is one, -inf for none. */
    static double max(NdArray x, int base, int stride, int size) {
        double max = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < size; i++) {
            max = Math.max(max, x.get(base + i * stride));
        }
        return max;
    }
}
