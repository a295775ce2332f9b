package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.ArrayList;
import java.util.List;

/**
 * softmax(scale * q k^T + mask) v of each head, with tokens before heads as projections leave them: the attention that exporters spell out. In distinction from {@link Attention} nothing is left out: a row of scores that are all -inf is
 * NaN, and a weight of 0 times a value that is NaN is NaN, as the formula says.
 *
 * <p>[q [B,Lq,H,D], k [B,Lk,H,D], v [B,Lk,H,Dv], mask? broadcast to [B,H,Lq,Lk]] → [y [B,Lq,H,Dv]], all of one float type. Packed, the three are one operand [B,L,3,H,D], as one projection for all of them leaves it.
 *
 * @param mask whether there is one, added to the scaled scores
 * @param packed whether q, k and v are one operand
 */
public record PlainAttention(boolean mask, boolean packed, double scale) implements Composite {
    private static final String NAME = "plain_attention";
    private static final int PARTS = 3;

    public PlainAttention {
        double factor = scale;
        Expect.shape(Double.isFinite(factor), NAME, () -> "scale needs to be finite: " + factor);
    }

    /** Of separate operands. */
    public PlainAttention(boolean mask, double scale) {
        this(mask, false, scale);
    }

    @Override
    public Arity arity() {
        return Arity.exactly((packed ? 1 : PARTS) + (mask ? 1 : 0));
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(NAME, inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        if (packed) {
            return packedShapes(inputs);
        }
        Shape q = inputs.get(0);
        Shape k = inputs.get(1);
        Shape v = inputs.get(2);
        Rules.rank(NAME, "q", q, 4);
        Rules.rank(NAME, "k", k, 4);
        Rules.rank(NAME, "v", v, 4);
        Dim batch = Expect.dim(NAME, "v", v, 0, Expect.dim(NAME, "k", k, 0, q.dim(0)));
        Dim heads = Expect.dim(NAME, "v", v, 2, Expect.dim(NAME, "k", k, 2, q.dim(2)));
        Dim keys = Expect.dim(NAME, "v", v, 1, k.dim(1));
        Expect.dim(NAME, "k", k, 3, q.dim(3));
        if (mask) {
            Rules.broadcastsTo(NAME, "mask", inputs.get(3), Shape.of(batch, heads, q.dim(1), keys));
        }
        return List.of(Shape.of(batch, q.dim(1), heads, v.dim(3)));
    }

    private List<Shape> packedShapes(List<Shape> inputs) {
        Shape qkv = inputs.getFirst();
        Rules.rank(NAME, "qkv", qkv, 5);
        Expect.dim(NAME, "qkv", qkv, 2, Dim.of(PARTS));
        Dim length = qkv.dim(1);
        if (mask) {
            Rules.broadcastsTo(NAME, "mask", inputs.get(1), Shape.of(qkv.dim(0), qkv.dim(3), length, length));
        }
        return List.of(Shape.of(qkv.dim(0), length, qkv.dim(3), qkv.dim(4)));
    }

    private List<Value> unpacked(Ops g, List<Value> inputs) {
        Value qkv = inputs.getFirst();
        Shape shape = qkv.shape();
        List<Value> parts = new ArrayList<>();
        for (int i = 0; i < PARTS; i++) {
            parts.add(
                    g.reshape(g.narrow(qkv, 2, i, i + 1L), shape.size(0), shape.size(1), shape.size(3), shape.size(4)));
        }
        parts.addAll(inputs.subList(1, inputs.size()));
        return parts;
    }

    @Override
    public List<Value> decompose(Ops g, List<Value> inputs) {
        DType dtype = inputs.getFirst().dtype();
        // scores are not rounded to a short type
        List<Value> wide = (packed ? unpacked(g, inputs) : inputs)
                .stream().map(input -> g.cast(input, dtype.accumulator())).toList();
        Value q = g.transpose(wide.get(0), 0, 2, 1, 3);
        Value k = g.transpose(wide.get(1), 0, 2, 1, 3);
        Value v = g.transpose(wide.get(2), 0, 2, 1, 3);
        Value scores = g.add(new MatMul(false, true, Epilogue.NONE), q, k);
        Value scaled = g.times(scores, g.scalar(scores.dtype(), scale));
        Value weights = g.softmax(mask ? g.plus(scaled, wide.get(3)) : scaled, 3);
        return List.of(g.cast(g.transpose(g.matmul(weights, v), 0, 2, 1, 3), dtype));
    }
}
