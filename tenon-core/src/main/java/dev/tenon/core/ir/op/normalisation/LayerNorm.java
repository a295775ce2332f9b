package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * (x - mean) / sqrt(variance + epsilon) over the dims from {@code axis} on, times scale, plus bias (both broadcast to
 * those dims).
 *
 * <p>[x, scale?, bias?] → [y], of x's shape and float type, which scale and bias have too. The variance is that of the
 * deviations from the mean (two passes, or Welford), divided by their number: a constant row gives exactly the bias.
 * ONNX LayerNormalization-17.
 */
public record LayerNorm(int axis, double epsilon, boolean scale, boolean bias) implements Primitive {
    public LayerNorm {
        Rules.fromFront("layer_norm", axis);
        Normalisation.epsilon("layer_norm", epsilon);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1 + (scale ? 1 : 0) + (bias ? 1 : 0));
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
        int size = SizeMath.toInt("layer_norm", row.elements());
        int[] atScale = scale ? Indexing.broadcast(inputs.get(1).shape(), row) : new int[0];
        int[] atBias = bias ? Indexing.broadcast(inputs.getLast().shape(), row) : new int[0];
        for (int base = 0; base < x.size(); base += size) {
            Normalisation.standardise(x, y, base, size, epsilon);
            for (int i = 0; i < size; i++) {
                double value = y.get(base + i);
                value = scale ? value * inputs.get(1).get(atScale[i]) : value;
                y.set(base + i, bias ? value + inputs.getLast().get(atBias[i]) : value);
            }
        }
        return List.of(y);
    }
}
