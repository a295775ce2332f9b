package dev.tenon.core.compiler;

import dev.tenon.core.compiler.memory.MemoryPlan;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What a backend compiles: a graph of concrete shapes whose nodes are primitives and the composites that the backend
 * claimed, in the order they will run, and a place in memory for every value. Its parameters are bound: there are only
 * inputs and constants.
 */
public record Plan(Graph graph, MemoryPlan memory) {
    /** The nodes that do work, in the order they will run: all but views, whose results lie where their inputs do. */
    public List<Node> work() {
        List<Node> work = new ArrayList<>(graph.nodes().size());
        for (Node node : graph.nodes()) {
            if (!MemoryPlanner.isView(node.op())) {
                work.add(node);
            }
        }
        return Collections.unmodifiableList(work);
    }
}
