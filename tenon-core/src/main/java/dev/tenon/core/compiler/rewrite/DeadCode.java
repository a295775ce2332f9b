package dev.tenon.core.compiler.rewrite;

import dev.tenon.core.ir.Graph;

/** Leaves out nodes that no output needs. */
public final class DeadCode implements Pass {
    /** Stateless. */
    public DeadCode() {}

    @Override
    public String name() {
        return "dce";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return graph.uses().allLive() ? graph : Rewriter.rewrite(graph, (node, into) -> null);
    }
}
