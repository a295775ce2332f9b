package dev.tenon.core.compiler;

import dev.tenon.core.ir.Graph;

/** Leaves out nodes that no output needs. */
final class DeadCode implements Pass {
    @Override
    public String name() {
        return "dce";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return Rewriter.rewrite(graph, (node, into) -> null);
    }
}
