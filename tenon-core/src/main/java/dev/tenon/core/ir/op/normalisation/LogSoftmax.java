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
 * x - max - log(sum(exp(x - max))) over one axis.
 *
 * <p>[x] → [y], of x's shape and float type. NaN where {@link Softmax} is; -inf where that is 0. ONNX LogSoftmax-13.
 */
public record LogSoftmax(int axis) implements Primitive {
    public LogSoftmax {
        Rules.fromFront("log_softmax", axis);
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
        int size = SizeMath.toInt("log_softmax", x.shape().size(axis));
        Indexing.forEachLane(x.shape(), axis, (base, stride) -> {
            double max = Softmax.max(x, base, stride, size);
            double log = Math.log(Summation.sum(size, i -> Math.exp(x.get(base + i * stride) - max)));
            for (int i = 0; i < size; i++) {
                y.set(base + i * stride, x.get(base + i * stride) - max - log);
            }
        });
        return List.of(y);
    }
}
