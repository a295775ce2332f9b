package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code plain_attention(heads(x, 0), heads(x, 1), heads(x, 2)) → plain_attention(x)}, packed, where the three are one
 * third of x each, cut out by slices of [B,L,3,H,D] or of [B,L,3HD], and where the backend runs that. Queries and keys
 * that are rotated alike become one rotation of x.
 */
public final class PackHeads implements Pass {
    private static final int PARTS = 3;
    private static final int RANK = 4;

    @Override
    public String name() {
        return "pack-heads";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return context.claimsNothing()
                ? graph
                : Rewriter.rewrite(graph, Set.of(PlainAttention.class), (node, into) -> pack(node, into, context));
    }

    private static @Nullable List<Value> pack(Node node, Rewriter into, PassContext context) {
        if (!(node.op() instanceof PlainAttention op) || op.packed()) {
            return null;
        }
        Rotated rotated = Rotated.of(node, into);
        Value whole = rotated == null ? null : whole(rotated.parts());
        if (rotated == null || whole == null) {
            return null;
        }
        Shape heads = rotated.parts().getFirst().shape();
        Value packed = into.reshape(into.map(whole), heads.size(0), heads.size(1), PARTS, heads.size(2), heads.size(3));
        List<Value> inputs = new ArrayList<>(List.of(rotated.rotate(packed, into)));
        node.inputs().stream().skip(PARTS).forEach(mask -> inputs.add(into.map(mask)));
        List<Value> results = into.addAll(op.ofPacked(), inputs);
        return context.claimed(results.getFirst()) ? results : null;
    }

    /** What three values [B,L,H,D] are the thirds of, in order; null where they are not. */
    private static @Nullable Value whole(List<Value> parts) {
        Value whole = null;
        for (int i = 0; i < PARTS; i++) {
            Value one = third(parts.get(i), i);
            if (one == null || (whole != null && !whole.equals(one))) {
                return null;
            }
            whole = one;
        }
        return whole;
    }

    /** What a value is one third of. */
    private static @Nullable Value third(Value heads, int index) {
        Node reshape = LastPart.producer(heads, Reshape.class);
        if (reshape == null
                || !heads.shape().isConcrete()
                || heads.shape().rank() != RANK
                || !reshape.input(0).shape().isConcrete()) {
            return null;
        }
        Shape shape = heads.shape();
        Value cut = reshape.input(0);
        long width = shape.elements(2, RANK);
        LastPart part = LastPart.of(cut);
        if (part != null && cut.shape().equals(Shape.of(shape.size(0), shape.size(1), width))) {
            return part.from() == index * width && part.whole().shape().size(2) == PARTS * width ? part.whole() : null;
        }
        Node slice = LastPart.producer(cut, Slice.class);
        return slice != null
                        && cut.shape().equals(Shape.of(shape.size(0), shape.size(1), 1, shape.size(2), shape.size(3)))
                        && slice.input(0)
                                .shape()
                                .equals(Shape.of(shape.size(0), shape.size(1), PARTS, shape.size(2), shape.size(3)))
                        && ((Slice) slice.op()).starts().equals(List.of(0L, 0L, (long) index, 0L, 0L))
                ? slice.input(0)
                : null;
    }
}
