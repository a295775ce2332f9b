package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;

/**
 * Inference: (x - mean) * scale / sqrt(variance + epsilon) + bias, by channel.
 *
 * <p>[x [B,C,...], scale, bias, mean, variance, each [C]] → [y], of x's shape and float type, which the others have too. Worked out in the accumulator's type. ONNX BatchNormalization-15.
 */
public record BatchNorm(double epsilon) implements Composite {
    public BatchNorm {
        Normalisation.epsilon("batch_norm", epsilon);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(5);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.rankAtLeast(mnemonic(), "x", x, 2);
        List<String> names = List.of("x", "scale", "bias", "mean", "variance");
        for (int i = 1; i < inputs.size(); i++) {
            Rules.perChannel(mnemonic(), names.get(i), inputs.get(i), x);
        }
        return List.of(x);
    }

    @Override
    public List<Value> decompose(Ops g, List<Value> inputs) {
        DType type = inputs.getFirst().dtype();
        DType wide = type.accumulator();
        List<Value> all = inputs.stream().map(value -> g.cast(value, wide)).toList();
        int rank = inputs.getFirst().shape().rank();
        Value deviation = g.unary(UnaryFn.SQRT, g.plus(all.get(4), g.scalar(wide, epsilon)));
        Value factor = Normalisation.perChannel(g, g.div(all.get(1), deviation), rank);
        Value centred = g.minus(all.getFirst(), Normalisation.perChannel(g, all.get(3), rank));
        Value y = g.plus(g.times(centred, factor), Normalisation.perChannel(g, all.get(2), rank));
        return List.of(g.cast(y, type));
    }
}
