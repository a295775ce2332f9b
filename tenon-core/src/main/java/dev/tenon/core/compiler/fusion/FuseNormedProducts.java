package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code norm(product) → normed_mat_mul} for LayerNorm and RmsNorm over the last dim of a product that nothing else
 * reads, with the bias and residual that it has taken in, where the backend runs that whole.
 *
 * <p>Runs after the fusion of row regions: a norm that has taken in a cast behind it saves as many bytes there.
 */
public final class FuseNormedProducts implements Pass {
    @Override
    public String name() {
        return "fuse-normed-products";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return context.mayClaim(NormedMatMul.class)
                ? Rewriter.rewrite(
                        graph, Set.of(LayerNorm.class, RmsNorm.class), (node, into) -> fuse(node, into, context))
                : graph;
    }

    private static @Nullable List<Value> fuse(Node norm, Rewriter into, PassContext context) {
        Node product = product(norm);
        if (product == null || !into.isPrivate(product.output())) {
            return null;
        }
        MatMul op = (MatMul) product.op();
        Op whole = norm.op() instanceof LayerNorm layer
                ? new NormedMatMul(op, true, layer.epsilon())
                : new NormedMatMul(op, false, ((RmsNorm) norm.op()).epsilon());
        List<Value> operands = new ArrayList<>(into.map(product.inputs()));
        operands.addAll(into.map(norm.inputs().subList(1, norm.inputs().size())));
        return context.claims(whole, operands) ? into.addAll(whole, operands) : null;
    }

    /** The product whose rows a node norms; null for any other node, and for norms without scale or bias. */
    private static @Nullable Node product(Node node) {
        int axis = switch (node.op()) {
            case LayerNorm(int from, double _, boolean scale, boolean bias) when scale && bias -> from;
            case RmsNorm(int from, double _, boolean scale) when scale -> from;
            default -> -1;
        };
        Node product = axis < 0 ? null : Match.producer(node.input(0));
        return product != null
                        && product.op() instanceof MatMul
                        && axis == node.output().shape().rank() - 1
                        && node.output().shape().isConcrete()
                ? product
                : null;
    }
}
