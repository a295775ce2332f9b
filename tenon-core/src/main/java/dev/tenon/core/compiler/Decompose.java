package dev.tenon.core.compiler;

import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;

/** {@code composite(x) → what it stands for}, unless the backend claims it whole. */
final class Decompose implements Pass {
    @Override
    public String name() {
        return "decompose";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (!isLeft(graph, context)) {
            return graph;
        }
        Graph before;
        Graph after = graph;
        do { // a composite may be made of composites
            before = after;
            after = Rewriter.rewrite(
                    before,
                    (node, into) -> isLeft(node, context)
                            ? ((Composite) node.op()).decompose(into, into.map(node.inputs()))
                            : null);
        } while (after != before);
        return after;
    }

    private static boolean isLeft(Graph graph, PassContext context) {
        for (Node node : graph.nodes()) {
            if (isLeft(node, context)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isLeft(Node node, PassContext context) {
        return node.op() instanceof Composite
                && !(node.op() instanceof Claimable && context.claims().test(node));
    }
}
