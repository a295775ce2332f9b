package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Normalises each group of channels of each sample, then scales and shifts by channel.
 *
 * <p>[x [B,C,...], scale [C], bias [C]] → [y], of x's shape and float type, which scale and bias have too; C is a
 * multiple of the groups. Worked out in the accumulator's type. ONNX GroupNormalization-21.
 */
public record GroupNorm(long groups, double epsilon) implements Composite {
    public GroupNorm {
        Normalisation.epsilon("group_norm", epsilon);
        if (groups < 1) {
            throw new ShapeException("group_norm: has " + groups + " groups; expected 1 or more");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.rankAtLeast(mnemonic(), "x", x, 2);
        Rules.divide(mnemonic(), "channels", x.dim(1), groups);
        Rules.perChannel(mnemonic(), "scale", inputs.get(1), x);
        Rules.perChannel(mnemonic(), "bias", inputs.get(2), x);
        return List.of(x);
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value x = inputs.getFirst();
        Shape shape = x.shape();
        DType wide = x.dtype().accumulator();
        long group = SizeMath.product(mnemonic(), shape.size(1) / groups, shape.elements(2, shape.rank()));
        Value grouped = g.add(Reshape.to(shape.size(0), groups, group), Cast.to(g, x, wide));
        Value normal = g.add(Reshape.to(shape.sizes()), g.add(new LayerNorm(2, epsilon, false, false), grouped));
        Value scale = Normalisation.perChannel(g, Cast.to(g, inputs.get(1), wide), shape.rank());
        Value bias = Normalisation.perChannel(g, Cast.to(g, inputs.get(2), wide), shape.rank());
        return List.of(Cast.to(
                g, g.add(new Binary(BinaryFn.ADD), g.add(new Binary(BinaryFn.MUL), normal, scale), bias), x.dtype()));
    }
}
