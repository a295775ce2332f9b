package dev.tenon.core.compiler;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.GraphBuilder;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.Deferred;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Cuts a specialised graph before its first operations whose meaning waits for values of the run. */
final class StageSplit {
    private static final String CROSSING = "value:";

    private final Graph graph;
    private final Set<Node> late = new HashSet<>();
    private final Set<Value> lateValues = new HashSet<>();
    private final Set<Value> crossing = new LinkedHashSet<>();
    private final Set<Value> needed = new LinkedHashSet<>();

    private StageSplit(Graph graph) {
        this.graph = graph;
        for (Node node : graph.nodes()) {
            if (node.op() instanceof Deferred || node.inputs().stream().anyMatch(lateValues::contains)) {
                late.add(node);
                lateValues.addAll(node.outputs());
            }
        }
        for (Node node : late) {
            for (int i = 0; i < node.inputs().size(); i++) {
                cross(node, i);
            }
        }
    }

    private void cross(Node node, int index) {
        Value input = node.input(index);
        if (lateValues.contains(input) || Match.constant(input) != null) {
            return;
        }
        crossing.add(input);
        if (node.op() instanceof Deferred deferred && deferred.neededValues().contains(index)) {
            needed.add(input);
        }
    }

    static StageSplit of(Graph graph) {
        StageSplit split = new StageSplit(graph);
        if (split.needed.isEmpty()) {
            Node node = graph.nodes().stream()
                    .filter(n -> n.op() instanceof Deferred)
                    .findFirst()
                    .orElseThrow();
            throw new UnsupportedException(node.op().mnemonic() + ": its result cannot be planned: " + node
                    + " (node \"" + node.name() + "\")");
        }
        return split;
    }

    /** The part that can be planned now. Its outputs: those of the graph that are ready, and the values that the rest reads. */
    Graph ready() {
        GraphBuilder builder = new GraphBuilder(graph.name());
        Map<Value, Value> mapped = new HashMap<>();
        graph.inputs().forEach(value -> mapped.put(value, builder.input(value.name(), value.type())));
        graph.nodes().stream().filter(node -> !late.contains(node)).forEach(node -> copy(node, builder, mapped));
        graph.outputs().forEach((name, value) -> {
            if (!lateValues.contains(value)) {
                builder.output(name, map(value, builder, mapped));
            }
        });
        crossing.forEach(value -> builder.output(crossingName(value), map(value, builder, mapped)));
        return builder.build();
    }

    Stage.Rest rest() {
        GraphBuilder builder = new GraphBuilder(graph.name());
        Map<Value, Value> mapped = new HashMap<>();
        crossing.forEach(value -> mapped.put(value, builder.input(crossingName(value), value.type())));
        graph.nodes().stream().filter(late::contains).forEach(node -> copy(node, builder, mapped));
        graph.outputs().forEach((name, value) -> {
            if (lateValues.contains(value)) {
                builder.output(name, map(value, builder, mapped));
            }
        });
        Set<String> names = new HashSet<>();
        needed.forEach(value -> names.add(crossingName(value)));
        return new Stage.Rest(builder.build(), names);
    }

    /** A name that no output of the graph has. */
    private String crossingName(Value value) {
        String name = CROSSING + value.name();
        while (graph.outputs().containsKey(name)) {
            name = CROSSING + name;
        }
        return name;
    }

    private static void copy(Node node, GraphBuilder builder, Map<Value, Value> mapped) {
        List<Value> operands =
                node.inputs().stream().map(value -> map(value, builder, mapped)).toList();
        List<Value> results = builder.add(
                node.name(),
                node.op(),
                operands,
                node.outputs().stream().map(Value::name).toList());
        for (int i = 0; i < results.size(); i++) {
            mapped.put(node.outputs().get(i), results.get(i));
        }
    }

    private static Value map(Value value, GraphBuilder builder, Map<Value, Value> mapped) {
        return mapped.computeIfAbsent(value, old -> {
            if (old.origin() instanceof Value.Origin.Constant(ConstantData data)) {
                return builder.constant(old.name(), data);
            }
            throw new IllegalStateException(old + " is not on this side of the cut");
        });
    }
}
