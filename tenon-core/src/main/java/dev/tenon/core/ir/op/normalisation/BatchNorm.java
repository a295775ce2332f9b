package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Inference: (x - mean) * scale / sqrt(variance + epsilon) + bias, by channel.
 *
 * <p>[x [B,C,...], scale, bias, mean, variance, each [C]] → [y], of x's shape and float type, which the others have
 * too. Worked out in the accumulator's type. ONNX BatchNormalization-15.
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
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        DType type = inputs.getFirst().dtype();
        DType wide = type.accumulator();
        List<Value> all = inputs.stream().map(value -> Cast.to(g, value, wide)).toList();
        int rank = inputs.getFirst().shape().rank();
        Value deviation =
                g.add(Unary.of(UnaryFn.SQRT), g.add(new Binary(BinaryFn.ADD), all.get(4), g.scalar(wide, epsilon)));
        Value factor = Normalisation.perChannel(g, g.add(new Binary(BinaryFn.DIV), all.get(1), deviation), rank);
        Value centred = g.add(new Binary(BinaryFn.SUB), all.getFirst(), Normalisation.perChannel(g, all.get(3), rank));
        Value y = g.add(
                new Binary(BinaryFn.ADD),
                g.add(new Binary(BinaryFn.MUL), centred, factor),
                Normalisation.perChannel(g, all.get(2), rank));
        return List.of(Cast.to(g, y, type));
    }
}
