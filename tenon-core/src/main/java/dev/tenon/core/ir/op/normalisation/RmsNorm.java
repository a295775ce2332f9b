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
 * x / sqrt(mean(x^2) + epsilon) over the dims from {@code axis} on, times scale (broadcast to those dims).
 *
 * <p>[x, scale?] → [y], of x's shape and float type, which scale has too. ONNX RMSNormalization-23.
 */
public record RmsNorm(int axis, double epsilon, boolean scale) implements Primitive {
    public RmsNorm {
        Rules.fromFront("rms_norm", axis);
        Normalisation.epsilon("rms_norm", epsilon);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(scale ? 2 : 1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(Normalisation.shape(mnemonic(), axis, inputs));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        Shape row = x.shape().range(axis, x.shape().rank());
        int size = SizeMath.toInt("rms_norm", row.elements());
        int[] atScale = scale ? Indexing.broadcast(inputs.get(1).shape(), row) : new int[0];
        for (int base = 0; base < x.size(); base += size) {
            int start = base;
            double mean = Summation.sum(size, i -> x.get(start + i) * x.get(start + i)) / size;
            double root = Math.sqrt(mean + epsilon);
            for (int i = 0; i < size; i++) {
                double value = x.get(base + i) / root;
                y.set(base + i, scale ? value * inputs.get(1).get(atScale[i]) : value);
            }
        }
        return List.of(y);
    }
}
