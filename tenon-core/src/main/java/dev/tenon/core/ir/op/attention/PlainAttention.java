package dev.tenon.core.ir.op.attention;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;

/**
 * softmax(scale * q k^T + mask) v of each head, with tokens before heads as projections leave them: the attention that
 * exporters spell out. In distinction from {@link Attention} nothing is left out: a row of scores that are all -inf is
 * NaN, and a weight of 0 times a value that is NaN is NaN, as the formula says. Guarded, weights that are NaN count as
 * 0, as exports of scaled_dot_product_attention have it for queries that see no key.
 *
 * <p>[q [B,Lq,H,D], k [B,Lk,H,D], v [B,Lk,H,Dv], mask? broadcast to [B,H,Lq,Lk]] → [y [B,Lq,H,Dv]], all of one float
 * type. Packed, the three are one operand [B,L,3,H,D], as one projection for all of them leaves it.
 *
 * @param mask whether there is one, added to the scaled scores
 * @param packed whether q, k and v are one operand
 * @param guarded whether weights that are NaN count as 0
 */
public record PlainAttention(boolean mask, boolean packed, double scale, boolean guarded) implements Claimable {
    private static final String NAME = "plain_attention";
    private static final int PARTS = 3;

    public PlainAttention {
        double factor = scale;
        Expect.shape(Double.isFinite(factor), NAME, () -> "scale needs to be finite: " + factor);
    }

    /** Of separate operands, unguarded. */
    public PlainAttention(boolean mask, double scale) {
        this(mask, false, scale, false);
    }

    /** The same of q, k and v in one operand. */
    public PlainAttention ofPacked() {
        return new PlainAttention(mask, true, scale, guarded);
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

    private List<Value> unpacked(OpBuilder g, List<Value> inputs) {
        Value qkv = inputs.getFirst();
        Shape shape = qkv.shape();
        List<Value> parts = new ArrayList<>();
        for (int i = 0; i < PARTS; i++) {
            parts.add(g.add(
                    Reshape.to(shape.size(0), shape.size(1), shape.size(3), shape.size(4)),
                    g.add(Slice.along(qkv.shape(), 2, i, i + 1L), qkv)));
        }
        parts.addAll(inputs.subList(1, inputs.size()));
        return parts;
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        DType dtype = inputs.getFirst().dtype();
        // scores are not rounded to a short type
        List<Value> wide = (packed ? unpacked(g, inputs) : inputs)
                .stream().map(input -> Cast.to(g, input, dtype.accumulator())).toList();
        Value q = g.add(Transpose.of(0, 2, 1, 3), wide.get(0));
        Value k = g.add(Transpose.of(0, 2, 1, 3), wide.get(1));
        Value v = g.add(Transpose.of(0, 2, 1, 3), wide.get(2));
        Value scores = g.add(new MatMul(false, true, Epilogue.NONE), q, k);
        Value scaled = g.add(new Binary(BinaryFn.MUL), scores, g.scalar(scores.dtype(), scale));
        Value weights = g.add(new Softmax(3), mask ? g.add(new Binary(BinaryFn.ADD), scaled, wide.get(3)) : scaled);
        if (guarded) {
            Value isNan = g.add(Unary.of(UnaryFn.IS_NAN), weights);
            weights = g.add(new Where(), isNan, g.scalar(weights.dtype(), 0), weights);
        }
        return List.of(Cast.to(g, g.add(Transpose.of(0, 2, 1, 3), g.add(MatMul.plain(), weights, v)), dtype));
    }
}
