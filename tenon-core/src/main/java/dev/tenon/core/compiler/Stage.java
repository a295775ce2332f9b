package dev.tenon.core.compiler;

import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.op.control.Loop;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One plan of a graph, and what is left of the graph after it. Nearly always the plan is all there is. Where a shape or
 * a branch depends on values that only the run brings forth, or a loop is to be run, the plan ends there: its outputs
 * are then what the rest needs (and those of the graph's outputs that are ready), and the rest is planned once the
 * needed values are known and the loops have run.
 */
public record Stage(Plan plan, @Nullable Rest rest) {
    /**
     * What is left.
     *
     * @param graph its inputs are named after the plan's outputs and the loops' results
     * @param needed inputs of {@code graph} whose values, not just types, the next plan depends on
     * @param loops run between the two plans, in any order
     */
    public record Rest(Graph graph, Set<String> needed, List<LoopCall> loops) {
        public Rest {
            needed = Set.copyOf(needed);
            loops = List.copyOf(loops);
        }
    }

    /**
     * A loop that the runtime drives.
     *
     * @param node the node's name, for messages
     * @param operands names of the plan's outputs
     * @param results names that inputs of the rest have
     */
    public record LoopCall(Loop loop, String node, List<String> operands, List<String> results) {
        public LoopCall {
            operands = List.copyOf(operands);
            results = List.copyOf(results);
        }
    }
}
