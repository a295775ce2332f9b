package dev.tenon.core.compiler;

import dev.tenon.core.ir.Graph;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One plan of a graph, and what is left of the graph after it. Nearly always the plan is all there is. Where a shape or a branch hangs on values that only the run brings forth, the plan ends there: its outputs are then what the rest needs
 * (and those of the graph's outputs that are ready), and the rest is planned once the needed values are known.
 */
public record Stage(Plan plan, @Nullable Rest rest) {
    /**
     * @param graph what is left; its inputs are named after the plan's outputs
     * @param needed inputs of {@code graph} whose values, not just types, the next plan hangs on
     */
    public record Rest(Graph graph, Set<String> needed) {
        public Rest {
            needed = Set.copyOf(needed);
        }
    }
}
