package dev.tenon.core.compiler.memory;

import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Says which steps of a graph certainly end before another begins, where steps that do not depend on each other may run
 * at the same time. Immutable.
 */
final class Lives {
    /** The table takes a bit for each pair of steps: 8 MiB. */
    private static final int MOST_STEPS = 8192;

    /** By step, the steps that it depends on. */
    private final BitSet[] before;

    private Lives(BitSet[] before) {
        this.before = before;
    }

    /** Whether a graph is small enough for the table. */
    static boolean suits(Graph graph) {
        return graph.nodes().size() <= MOST_STEPS;
    }

    static Lives of(Graph graph) {
        BitSet[] before = new BitSet[graph.nodes().size()];
        Map<Node, Integer> steps = new HashMap<>();
        for (int step = 0; step < before.length; step++) {
            Node node = graph.nodes().get(step);
            steps.put(node, step);
            BitSet all = new BitSet(step);
            for (Value input : node.inputs()) {
                if (input.origin() instanceof Value.Origin.Result(Node producer, int _)) {
                    Integer earlier = steps.get(producer);
                    if (earlier != null && !all.get(earlier)) {
                        all.or(before[earlier]);
                        all.set(earlier);
                    }
                }
            }
            before[step] = all;
        }
        return new Lives(before);
    }

    /** Whether all of those steps have ended when the step begins. */
    boolean ended(BitSet steps, int step) {
        return steps.stream().allMatch(before[step]::get);
    }

    /** The same of all but the step itself. */
    boolean othersEnded(BitSet steps, int step) {
        return steps.stream().allMatch(other -> other == step || before[step].get(other));
    }
}
