package dev.tenon.core.compiler;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Control;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.control.Loop;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Cuts a specialised graph before its first operations whose meaning waits for values of the run, and its first loops.
 */
final class StageSplit {
    private static final String CROSSING = "value:";

    private final Graph graph;
    private final Set<Node> late = new HashSet<>();
    private final Set<Value> lateValues = new HashSet<>();
    private final Set<Value> crossing = new LinkedHashSet<>();
    private final Set<Value> needed = new LinkedHashSet<>();
    /** The loops that can run once the plan has, what they read, and what they give. */
    private final List<Node> loops = new ArrayList<>();

    private final Set<Value> loopOperands = new LinkedHashSet<>();
    private final Set<Value> loopResults = new LinkedHashSet<>();

    private StageSplit(Graph graph) {
        this.graph = graph;
        for (Node node : graph.nodes()) {
            boolean waits = node.inputs().stream().anyMatch(lateValues::contains);
            if (node.op() instanceof Loop && !waits) {
                loops.add(node);
                loopOperands.addAll(node.inputs());
                loopResults.addAll(node.outputs());
                lateValues.addAll(node.outputs());
            } else if (waits || isLate(node)) {
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
        boolean ofLoop = loopResults.contains(input);
        if ((lateValues.contains(input) && !ofLoop) || input.constant() != null) {
            return;
        }
        if (!ofLoop) {
            crossing.add(input);
        }
        if (node.op() instanceof Deferred deferred && deferred.neededValues().contains(index)) {
            needed.add(input);
        }
    }

    /** Whether a node cannot be part of a plan whatever its inputs are. */
    static boolean isLate(Node node) {
        return node.op() instanceof Deferred || node.op() instanceof Control;
    }

    static StageSplit of(Graph graph) {
        StageSplit split = new StageSplit(graph);
        if (split.needed.isEmpty() && split.loops.isEmpty()) {
            Node node = graph.nodes().stream()
                    .filter(StageSplit::isLate)
                    .findFirst()
                    .orElseThrow();
            throw new UnsupportedException(node.op().mnemonic() + ": its result cannot be planned: " + node
                    + " (node \"" + node.name() + "\")");
        }
        return split;
    }

    /**
     * The part that can be planned now. Its outputs: those of the graph that are ready, and the values that the rest
     * reads.
     */
    Graph ready() {
        GraphBuilder builder = new GraphBuilder(graph.name());
        Map<Value, Value> mapped = new HashMap<>();
        graph.inputs().forEach(value -> mapped.put(value, builder.input(value.name(), value.type())));
        graph.nodes().stream()
                .filter(node -> !late.contains(node) && !loops.contains(node))
                .forEach(node -> copy(node, builder, mapped));
        graph.outputs().forEach((name, value) -> {
            if (!lateValues.contains(value)) {
                builder.output(name, map(value, builder, mapped));
            }
        });
        Set<Value> read = new LinkedHashSet<>(crossing);
        read.addAll(loopOperands);
        read.forEach(value -> builder.output(crossingName(value), map(value, builder, mapped)));
        return builder.buildUnverified();
    }

    Stage.Rest rest() {
        GraphBuilder builder = new GraphBuilder(graph.name());
        Map<Value, Value> mapped = new HashMap<>();
        Set<Value> inputs = new LinkedHashSet<>(crossing);
        inputs.addAll(loopResults);
        inputs.forEach(value -> mapped.put(value, builder.input(crossingName(value), value.type())));
        graph.nodes().stream().filter(late::contains).forEach(node -> copy(node, builder, mapped));
        graph.outputs().forEach((name, value) -> {
            if (lateValues.contains(value)) {
                builder.output(name, map(value, builder, mapped));
            }
        });
        Set<String> names = new HashSet<>();
        needed.forEach(value -> names.add(crossingName(value)));
        List<Stage.LoopCall> calls = new ArrayList<>();
        for (Node node : loops) {
            if (node.op() instanceof Loop loop) {
                calls.add(new Stage.LoopCall(
                        loop,
                        node.name(),
                        node.inputs().stream().map(this::crossingName).toList(),
                        node.outputs().stream().map(this::crossingName).toList()));
            }
        }
        return new Stage.Rest(builder.buildUnverified(), names, calls);
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
