package dev.tenon.core.ir.op.attention;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * A whole self-attention layer: projections of queries, keys and values by one weight, attention, projection of its
 * result.
 *
 * <p>[x [B,L,E], input weight [E,3 W], input bias [3 W], output weight [W,E], output bias [E]] → [y [B,L,E]], all of
 * one float type; of a short one the result of each step is rounded. W is a multiple of the heads; columns are those of
 * queries, then keys, then values, head by head. Scaled by the root of a head's size. Vaswani et al., <a
 * href="https://arxiv.org/abs/1706.03762">Attention Is All You Need</a>, 2017.
 */
public record FusedAttentionBlock(long heads, boolean causal) implements Composite {
    private static final int KINDS = 3;

    public FusedAttentionBlock {
        long count = heads;
        Expect.shape(count >= 1, "fused_attention_block", () -> "has " + count + " heads; expected 1 or more");
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
        Shape x = inputs.get(0);
        Rules.rank(mnemonic(), "x", x, 3);
        Rules.rank(mnemonic(), "input weight", inputs.get(1), 2);
        Rules.rank(mnemonic(), "input bias", inputs.get(2), 1);
        Rules.rank(mnemonic(), "output weight", inputs.get(3), 2);
        Rules.rank(mnemonic(), "output bias", inputs.get(4), 1);
        Expect.dim(mnemonic(), "input weight", inputs.get(1), 0, x.dim(2));
        Dim all = Expect.dim(
                mnemonic(), "input bias", inputs.get(2), 0, inputs.get(1).dim(1));
        Dim width = Rules.divide(mnemonic(), "input weight dim 1", all, KINDS);
        Rules.divide(mnemonic(), "width", width, heads);
        Expect.shape(!width.is(0), mnemonic(), () -> "heads are empty: input weight " + inputs.get(1));
        Expect.dim(mnemonic(), "output weight", inputs.get(3), 0, width);
        Expect.dim(mnemonic(), "output weight", inputs.get(3), 1, x.dim(2));
        Expect.dim(mnemonic(), "output bias", inputs.get(4), 0, x.dim(2));
        return List.of(x);
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value x = inputs.getFirst();
        long batch = x.shape().size(0);
        long length = x.shape().size(1);
        long width = inputs.get(3).shape().size(0);
        MatMul project = new MatMul(false, false, Epilogue.NONE.withBias());
        Value all = g.add(
                Reshape.to(batch, length, KINDS, heads, width / heads),
                g.add(project, x, inputs.get(1), inputs.get(2)));
        Value split = g.add(Transpose.of(2, 0, 3, 1, 4), all);
        Value[] parts = new Value[KINDS];
        for (int i = 0; i < KINDS; i++) {
            parts[i] = g.add(
                    Reshape.to(batch, heads, length, width / heads),
                    g.add(Slice.along(split.shape(), 0, i, i + 1L), split));
        }
        Value seen = g.add(new Attention(causal, 0, AttentionMask.NONE, Double.NaN, 0), parts);
        Value joined = g.add(Reshape.to(batch, length, width), g.add(Transpose.of(0, 2, 1, 3), seen));
        return List.of(g.add(project, joined, inputs.get(3), inputs.get(4)));
    }
}
