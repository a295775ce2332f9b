package dev.tenon.core.ir.op;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import java.util.List;

/**
 * Normalises each group of channels of each sample, then scales and shifts by channel.
 *
 * <p>[x [B,C,...], scale [C], bias [C]] → [y], of x's shape and float type, which scale and bias have too; C is a multiple of the groups. Worked out in the accumulator's type. ONNX GroupNormalization-21.
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
    public List<Value> decompose(Ops g, List<Value> inputs) {
        Value x = inputs.getFirst();
        Shape shape = x.shape();
        DType wide = x.dtype().accumulator();
        long group = SizeMath.product(mnemonic(), shape.size(1) / groups, shape.elements(2, shape.rank()));
        Value grouped = g.reshape(g.cast(x, wide), shape.size(0), groups, group);
        Value normal = g.reshape(g.add(new LayerNorm(2, epsilon, false, false), grouped), shape.sizes());
        Value scale = Normalisation.perChannel(g, g.cast(inputs.get(1), wide), shape.rank());
        Value bias = Normalisation.perChannel(g, g.cast(inputs.get(2), wide), shape.rank());
        return List.of(g.cast(g.plus(g.times(normal, scale), bias), x.dtype()));
    }
}
