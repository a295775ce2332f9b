package dev.tenon.core.ir;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.TenonException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes one graph of operations given as records, front to back. Types are inferred and checked as nodes are added, so
 * a fault is reported at the node that has it. {@code build.GraphBuilder} adds operations in words.
 *
 * <p>Makes one graph: after {@link #build} every further use is a {@link ClosedException}. Not thread-safe.
 */
public class PlainGraphBuilder implements OpBuilder {
    private final String name;
    private final List<Value> inputs = new ArrayList<>();
    private final List<Value> parameters = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();
    private final Map<String, Value> outputs = new LinkedHashMap<>();
    private final Set<String> names = new HashSet<>();
    private int counter;
    private Graph.Defaults defaults = Graph.Defaults.NONE;
    /** The graph that this one began as, until its names are reserved. */
    private @Nullable Graph kept;

    private boolean built;

    public PlainGraphBuilder(String name) {
        this.name = Require.nonNull(name, "name");
    }

    /**
     * Begins a graph with the name, inputs and parameters of another, whose nodes it may {@link #keep}. New values get
     * names that no value of the other has.
     */
    public PlainGraphBuilder(Graph source) {
        this(Require.nonNull(source, "source").name());
        inputs.addAll(source.inputs());
        parameters.addAll(source.parameters());
        kept = source;
    }

    /** Builds and verifies a graph. */
    public static Graph assemble(String name, Consumer<PlainGraphBuilder> body) {
        Require.nonNull(body, "body");
        PlainGraphBuilder builder = new PlainGraphBuilder(name);
        body.accept(builder);
        return builder.build();
    }

    /** A value that each run gives. */
    public final Value input(String name, TensorType type) {
        requireOpen();
        Require.nonNull(type, "type");
        Value value = new Value(claim(name), type, new Value.Origin.Input());
        inputs.add(value);
        return value;
    }

    /** A scalar that each run gives. */
    public final Value input(String name, DType dtype) {
        return input(name, new TensorType(Require.nonNull(dtype, "dtype"), Shape.scalar()));
    }

    /** A value of those sizes that each run gives. */
    public final Value input(String name, DType dtype, long... sizes) {
        return input(name, new TensorType(Require.nonNull(dtype, "dtype"), Shape.of(sizes)));
    }

    /** A value that each run gives, of dims that may have names. */
    public final Value input(String name, DType dtype, Dim... dims) {
        return input(name, new TensorType(Require.nonNull(dtype, "dtype"), Shape.of(dims)));
    }

    /** A value that is given once, when the graph is compiled. */
    public final Value parameter(String name, DType dtype, long... sizes) {
        requireOpen();
        Value value = new Value(claim(name), TensorType.of(dtype, sizes), new Value.Origin.Parameter());
        parameters.add(value);
        return value;
    }

    /** A value that is part of the graph. */
    public final Value constant(String name, ConstantData data) {
        requireOpen();
        Require.nonNull(name, "name");
        Require.nonNull(data, "data");
        return new Value(unique(name), data.type(), new Value.Origin.Constant(data));
    }

    /** A constant of another graph as part of this one: the very value where its name is free here. */
    public final Value adopt(Value constant) {
        requireOpen();
        ConstantData data = Require.nonNull(constant, "constant").constant();
        if (data == null) {
            throw InputException.of("constant", constant + " is no constant; expected one");
        }
        return names.add(constant.name()) ? constant : constant(constant.name(), data);
    }

    @Override
    public final Value constant(ConstantData data) {
        return constant("const", data);
    }

    /** Adds a node with the given name for its messages; the results in order. */
    public final List<Value> add(String nodeName, Op op, List<Value> operands) {
        return add(nodeName, op, operands, List.of());
    }

    /**
     * Adds a node whose results are named as asked, as far as the names are free; the operation's own rules give the
     * types.
     */
    public final List<Value> add(String nodeName, Op op, List<Value> operands, List<String> wantedNames) {
        Require.nonNull(nodeName, "nodeName");
        Require.nonNull(wantedNames, "wantedNames");
        try {
            requireOperands(op, operands);
            List<TensorType> types = op.infer(types(operands));
            List<String> names = new ArrayList<>(types.size());
            for (int i = 0; i < types.size(); i++) {
                names.add(i < wantedNames.size() ? wantedNames.get(i) : op.mnemonic());
            }
            return addTyped(nodeName, op, operands, names, types);
        } catch (TenonException e) {
            throw e.at(nodeName);
        }
    }

    /**
     * Adds a node whose results have names (made unique here) and types of their own choosing; {@link Verifier} checks
     * the types.
     */
    public final List<Value> addTyped(
            String nodeName, Op op, List<Value> operands, List<String> resultNames, List<TensorType> types) {
        requireOpen();
        requireOperands(op, operands);
        Require.nonNull(nodeName, "nodeName");
        Require.elements(resultNames, "resultNames");
        Require.elements(types, "types");
        String[] unique = new String[types.size()];
        for (int i = 0; i < unique.length; i++) {
            unique[i] = unique(resultNames.get(i));
        }
        Node node = new Node(nodeName, op, operands, List.of(unique), types);
        nodes.add(node);
        return node.outputs();
    }

    /**
     * Adds a node of another graph, on operands of this one: with its name, with the names of its results as far as
     * they are free, and with types that the operation's own rules gave.
     */
    public final List<Value> addLike(Node node, List<Value> operands, List<TensorType> types) {
        requireOpen();
        Require.nonNull(node, "node");
        requireOperands(node.op(), operands);
        String[] unique = new String[Require.elements(types, "types").size()];
        for (int i = 0; i < unique.length; i++) {
            List<Value> old = node.outputs();
            unique[i] = unique(i < old.size() ? old.get(i).name() : node.op().mnemonic());
        }
        Node like = new Node(node.name(), node.op(), operands, List.of(unique), types);
        nodes.add(like);
        return like.outputs();
    }

    /** The types of values, in order. */
    public static List<TensorType> types(List<Value> values) {
        TensorType[] types = new TensorType[Require.nonNull(values, "values").size()];
        for (int i = 0; i < types.length; i++) {
            types[i] = values.get(i).type();
        }
        return List.of(types);
    }

    /** Takes a node of the graph that this one began as, with its values; its operands are values of this graph. */
    public final List<Value> keep(Node node) {
        requireOpen();
        nodes.add(Require.nonNull(node, "node"));
        return node.outputs();
    }

    /**
     * Adds a node of the graph that this one began as again, on other operands. Its results keep their names, and their
     * types where the types of the operands are the same.
     */
    public final List<Value> addAgain(Node node, List<Value> operands) {
        requireOpen();
        Require.nonNull(node, "node");
        Require.elements(operands, "operands");
        try {
            boolean same = true;
            for (int i = 0; i < operands.size(); i++) {
                same &= operands.get(i).type().equals(node.input(i).type());
            }
            List<Value> old = node.outputs();
            List<TensorType> types = same ? types(old) : node.op().infer(types(operands));
            List<String> resultNames = new ArrayList<>(old.size());
            old.forEach(value -> resultNames.add(value.name()));
            Node again = new Node(node.name(), node.op(), operands, resultNames, types);
            nodes.add(again);
            return again.outputs();
        } catch (TenonException e) {
            throw e.at(node.name());
        }
    }

    @Override
    public final List<Value> addAll(Op op, List<Value> operands) {
        return add("", op, operands);
    }

    /**
     * Adds a whole graph: its inputs and parameters become this one's, its nodes come in their order. Its defaults
     * become constants, its outputs are no outputs of this graph unless they are named so.
     *
     * @return the values that are the graph's outputs, by name, in its order
     */
    public final SequencedMap<String, Value> include(Graph graph) {
        Require.nonNull(graph, "graph");
        Map<Value, Value> here = new HashMap<>();
        graph.inputs().forEach(given -> here.put(given, input(given.name(), given.type())));
        for (Value given : graph.parameters()) {
            here.put(given, parameter(given.name(), given.dtype(), given.shape().sizes()));
        }
        for (Value constant : graph.constants()) {
            here.put(constant, constant(constant.name(), Objects.requireNonNull(constant.constant())));
        }
        for (Node node : graph.nodes()) {
            List<Value> operands = new ArrayList<>();
            node.inputs().forEach(operand -> operands.add(Objects.requireNonNull(here.get(operand))));
            List<Value> results = addTyped(
                    node.name(),
                    node.op(),
                    operands,
                    node.outputs().stream().map(Value::name).toList(),
                    node.outputs().stream().map(Value::type).toList());
            for (int i = 0; i < results.size(); i++) {
                here.put(node.outputs().get(i), results.get(i));
            }
        }
        SequencedMap<String, Value> results = new LinkedHashMap<>();
        graph.outputs().forEach((name, value) -> results.put(name, Objects.requireNonNull(here.get(value))));
        return results;
    }

    /** Makes a value a result of the graph. @throws ShapeException when the name is taken */
    public final void output(String outputName, Value value) {
        requireOpen();
        Require.nonNull(outputName, "outputName");
        Require.nonNull(value, "value");
        if (outputs.putIfAbsent(outputName, value) != null) {
            throw new ShapeException("graph \"" + name + "\" has two outputs named \"" + outputName + "\"");
        }
    }

    /**
     * Says which constants are defaults that a run may replace.
     *
     * @param types of the values that may be given, by name
     * @param overriding makes the graph that takes those of the given names as inputs; called once for each set of
     *     names
     */
    public final void defaults(SequencedMap<String, TensorType> types, Function<Set<String>, Graph> overriding) {
        requireOpen();
        defaults = new Graph.Defaults(Require.nonNull(types, "types"), Require.nonNull(overriding, "overriding"));
    }

    /**
     * Verifies the graph and ends building.
     *
     * @throws dev.tenon.core.error.VerificationException with all findings
     */
    public final Graph build() {
        Graph graph = buildUnverified();
        Verifier.verify(graph);
        return graph;
    }

    /** Ends building. The compiler verifies what comes out of its passes, and with assertions enabled each pass. */
    public final Graph buildUnverified() {
        requireOpen();
        built = true;
        Graph graph = new Graph(name, inputs, parameters, nodes, outputs, defaults);
        assert Verifier.holds(graph);
        return graph;
    }

    private void requireOpen() {
        if (built) {
            throw new ClosedException("graph \"" + name + "\" is built; expected a new builder for another graph");
        }
    }

    private static void requireOperands(Op op, List<Value> operands) {
        Require.nonNull(op, "op");
        Require.nonNull(operands, "operands");
        for (int i = 0; i < operands.size(); i++) {
            if (operands.get(i) == null) {
                throw InputException.of(
                                "operands",
                                op.mnemonic() + ": operand " + i + " (argument \"operands\") is null; expected a value")
                        .within(op.mnemonic(), List.of());
            }
        }
    }

    private String claim(String wanted) {
        Require.nonNull(wanted, "name");
        if (!names.add(wanted)) {
            throw new ShapeException("graph \"" + name + "\" has two values named \"" + wanted + "\"");
        }
        return wanted;
    }

    private String unique(String wanted) {
        if (kept != null) {
            reserveNames(kept);
            kept = null;
        }
        String candidate = wanted;
        while (!names.add(candidate)) {
            candidate = wanted + "." + counter++;
        }
        return candidate;
    }

    private void reserveNames(Graph source) {
        source.inputs().forEach(value -> names.add(value.name()));
        source.parameters().forEach(value -> names.add(value.name()));
        for (Node node : source.nodes()) {
            node.inputs().forEach(value -> names.add(value.name())); // constants among them
            node.outputs().forEach(value -> names.add(value.name()));
        }
        source.outputs().values().forEach(value -> names.add(value.name()));
    }
}
