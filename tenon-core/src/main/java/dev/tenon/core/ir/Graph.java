package dev.tenon.core.ir;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.function.Consumer;

/**
 * A tensor program in static single assignment form: values that are given (inputs, parameters, constants), nodes in an order in which each uses only what stands before it, and named outputs.
 *
 * <p>Immutable and thread-safe. Made by a {@link GraphBuilder}.
 */
public final class Graph {
    private final String name;
    private final List<Value> inputs;
    private final List<Value> parameters;
    private final List<Node> nodes;
    private final SequencedMap<String, Value> outputs;

    Graph(String name, List<Value> inputs, List<Value> parameters, List<Node> nodes, Map<String, Value> outputs) {
        this.name = name;
        this.inputs = List.copyOf(inputs);
        this.parameters = List.copyOf(parameters);
        this.nodes = List.copyOf(nodes);
        this.outputs = java.util.Collections.unmodifiableSequencedMap(new LinkedHashMap<>(outputs));
    }

    /** Builds and verifies a graph: {@code Graph.build("head", g -> { Value x = g.input(…); …; g.output("p", y); })}. */
    public static Graph build(String name, Consumer<GraphBuilder> body) {
        GraphBuilder builder = new GraphBuilder(name);
        body.accept(builder);
        return builder.build();
    }

    public String name() {
        return name;
    }

    /** Given by each run, in order. */
    public List<Value> inputs() {
        return inputs;
    }

    /** Given when the graph is compiled, in order. */
    public List<Value> parameters() {
        return parameters;
    }

    /** Every node after those whose results it uses. */
    public List<Node> nodes() {
        return nodes;
    }

    public SequencedMap<String, Value> outputs() {
        return outputs;
    }

    /** The constants that nodes or outputs use, in order of first use. */
    public SequencedSet<Value> constants() {
        SequencedSet<Value> constants = new LinkedHashSet<>();
        nodes.forEach(node -> node.inputs().forEach(value -> addConstant(value, constants)));
        outputs.values().forEach(value -> addConstant(value, constants));
        return constants;
    }

    private static void addConstant(Value value, SequencedSet<Value> constants) {
        if (value.origin() instanceof Value.Origin.Constant) {
            constants.add(value);
        }
    }

    /** The text form: see {@link GraphText}. */
    @Override
    public String toString() {
        return GraphText.print(this);
    }
}
