package dev.tenon.core.compiler;

import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Value;
import java.util.HashSet;
import java.util.Set;

/**
 * {@code output = input, constant, or the memory of another output → output = copy(it)}: afterwards every output has
 * memory of its own that a node writes.
 */
final class OutputCopies implements Pass {
    @Override
    public String name() {
        return "output-copies";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        Set<Value> taken = new HashSet<>();
        Set<String> copied = new HashSet<>();
        graph.outputs().forEach((name, value) -> {
            Value root = MemoryPlanner.shown(value);
            if (Match.producer(root) == null || !taken.add(root)) {
                copied.add(name);
            }
        });
        return copied.isEmpty() ? graph : Rewriter.copyOutputs(graph, copied);
    }
}
