package dev.tenon.core.ir.op.convolution;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.GroupNorm;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Normalises each group of channels of each sample, whose channels lie innermost, then scales and shifts by channel
 * where {@code affine}.
 *
 * <p>[x [B,...,C], scale? [C], bias? [C]] → [y], of x's shape and float type, which scale and bias have too; C is a
 * multiple of the groups. Worked out in the accumulator's type. {@link GroupNorm} and, with a group a channel,
 * {@link InstanceNorm} of the other layout.
 */
public record ChannelsLastNorm(long groups, double epsilon, boolean affine) implements Claimable {
    public ChannelsLastNorm {
        if (groups < 1 || !(epsilon >= 0)) {
            throw new ShapeException("channels_last_norm: has " + groups + " groups and an epsilon of " + epsilon
                    + "; expected 1 or more, and a number of 0 or more");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(affine ? 3 : 1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.rankAtLeast(mnemonic(), "x", x, 3);
        Rules.divide(mnemonic(), "channels", x.dim(x.rank() - 1), groups);
        for (Shape vector : inputs.subList(1, inputs.size())) {
            Rules.rank(mnemonic(), "scale or bias", vector, 1);
            Rules.broadcastsTo(mnemonic(), "scale or bias", vector, x);
        }
        return List.of(x);
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value x = inputs.getFirst();
        int rank = x.shape().rank();
        DType wide = x.dtype().accumulator();
        Value first = Cast.to(g, g.add(new Transpose(ChannelsLastConv.first(rank)), x), wide);
        Shape shape = first.shape();
        long group = SizeMath.product(mnemonic(), shape.size(1) / groups, shape.elements(2, rank));
        Value grouped = g.add(Reshape.to(shape.size(0), groups, group), first);
        Value y = g.add(Reshape.to(shape.sizes()), g.add(new LayerNorm(2, epsilon, false, false), grouped));
        y = g.add(new Transpose(ChannelsLastConv.last(rank)), y);
        if (affine) {
            y = g.add(new Binary(BinaryFn.MUL), y, Cast.to(g, inputs.get(1), wide));
            y = g.add(new Binary(BinaryFn.ADD), y, Cast.to(g, inputs.get(2), wide));
        }
        return List.of(Cast.to(g, y, x.dtype()));
    }
}
