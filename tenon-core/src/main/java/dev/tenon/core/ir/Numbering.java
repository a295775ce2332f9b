package dev.tenon.core.ir;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Numbers from 0 for the values of a graph: inputs, constants, then results in the order of nodes. Immutable and
 * thread-safe.
 */
public final class Numbering {
    private final List<Value> values;
    private final Map<Value, Integer> numbers;

    Numbering(Graph graph) {
        List<Value> all = new ArrayList<>(graph.inputs());
        all.addAll(graph.constants());
        for (Node node : graph.nodes()) {
            all.addAll(node.outputs());
        }
        values = List.copyOf(all);
        numbers = HashMap.newHashMap(values.size());
        for (int i = 0; i < values.size(); i++) {
            numbers.put(values.get(i), i);
        }
    }

    /** The values, by number. */
    public List<Value> values() {
        return values;
    }

    /**
     * The number of a value.
     *
     * @throws IllegalArgumentException for one of another graph
     */
    public int of(Value value) {
        Integer number = numbers.get(value);
        if (number == null) {
            throw new IllegalArgumentException(value + " is not of this graph");
        }
        return number;
    }
}
