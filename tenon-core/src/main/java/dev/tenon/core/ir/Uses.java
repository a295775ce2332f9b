package dev.tenon.core.ir;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Which nodes use the values of a graph, as far as an output needs them. Immutable and thread-safe. */
public final class Uses {
    private static final Object MANY = new Object();

    /** The node that uses a value once, or {@link #MANY}. */
    private final Map<Value, Object> users;

    private final Set<Value> outputs;
    private final boolean allLive;

    Uses(Graph graph) {
        outputs = new HashSet<>(graph.outputs().values());
        users = HashMap.newHashMap(2 * graph.nodes().size());
        boolean all = true;
        for (Node node : graph.nodes().reversed()) {
            if (isNeeded(node)) {
                for (Value value : node.inputs()) {
                    users.merge(value, node, (_, _) -> MANY);
                }
            } else {
                all = false;
            }
        }
        allLive = all;
    }

    private boolean isNeeded(Node node) {
        for (Value value : node.outputs()) {
            if (users.containsKey(value) || outputs.contains(value)) {
                return true;
            }
        }
        return false;
    }

    /** Whether an output needs the node. */
    public boolean isLive(Node node) {
        return allLive || isNeeded(node);
    }

    /** Whether outputs need all nodes. */
    public boolean allLive() {
        return allLive;
    }

    /** Whether exactly one node uses a value, once, and it is no output of the graph. */
    public boolean isPrivate(Value value) {
        return users.get(value) instanceof Node && !outputs.contains(value);
    }

    /** Whether a value is an output of the graph. */
    public boolean isOutput(Value value) {
        return outputs.contains(value);
    }
}
