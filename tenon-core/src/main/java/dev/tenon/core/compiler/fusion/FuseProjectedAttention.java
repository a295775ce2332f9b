package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.ProjectedAttention;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.movement.Reshape;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code plain_attention(reshape(product)) → projected_attention}, packed, of a product [B,L,3HD] that nothing else
 * reads, where the backend runs that whole. Runs after {@link PackHeads}.
 */
public final class FuseProjectedAttention implements Pass {
    @Override
    public String name() {
        return "fuse-projected-attention";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return context.mayClaim(ProjectedAttention.class)
                ? Rewriter.rewrite(graph, Set.of(PlainAttention.class), (node, into) -> fuse(node, into, context))
                : graph;
    }

    private static @Nullable List<Value> fuse(Node node, Rewriter into, PassContext context) {
        PlainAttention attention = (PlainAttention) node.op();
        Node product = attention.packed() ? product(node.input(0), into) : null;
        if (product == null) {
            return null;
        }
        Shape parts = node.input(0).shape();
        ProjectedAttention whole = new ProjectedAttention((MatMul) product.op(), attention, parts.size(3));
        List<Value> operands = new ArrayList<>(into.map(product.inputs()));
        operands.addAll(into.map(node.inputs().subList(1, node.inputs().size())));
        return context.claims(whole, operands) ? into.addAll(whole, operands) : null;
    }

    /** The product [B,L,3HD] that a value [B,L,3,H,D] alone is made of; null where there is none. */
    private static @Nullable Node product(Value heads, Rewriter into) {
        Node reshape = Match.producer(heads);
        Node product = reshape != null && reshape.op() instanceof Reshape ? Match.producer(reshape.input(0)) : null;
        if (product == null
                || !(product.op() instanceof MatMul)
                || !heads.shape().isConcrete()) {
            return null;
        }
        Shape parts = heads.shape();
        Shape rows = Shape.of(parts.size(0), parts.size(1), parts.elements(2, parts.rank()));
        return product.output().shape().equals(rows)
                        && parts.size(3) > 0
                        && into.isPrivate(heads)
                        && into.isPrivate(product.output())
                ? product
                : null;
    }
}
