package dev.tenon.core.ir;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A tensor program in static single assignment form: values that are given (inputs, parameters, constants), nodes in an
 * order in which each uses only what stands before it, and named outputs.
 *
 * <p>A graph may hold default values: constants that a run may replace, with {@link #overriding} for the graph that
 * takes them as inputs.
 *
 * <p>Immutable and thread-safe. Made by a {@link PlainGraphBuilder}.
 */
public final class Graph {
    private final String name;
    private final List<Value> inputs;
    private final List<Value> parameters;
    private final List<Node> nodes;
    private final SequencedMap<String, Value> outputs;
    private final Defaults defaults;
    /** Made on first use; a race makes equal ones. */
    private @Nullable Uses uses;

    private @Nullable SequencedSet<Value> constants;

    private @Nullable SequencedSet<ConstantData> constantData;

    private @Nullable Numbering numbering;

    private @Nullable Set<Class<? extends Op>> kinds;

    /**
     * The constants of a graph that a run may replace.
     *
     * @param types of the values that may be given, by name; named dims as in the graph's inputs
     * @param overriding makes the graph that takes those of the given names as inputs, and the others as constants
     */
    record Defaults(SequencedMap<String, TensorType> types, Function<Set<String>, Graph> overriding) {
        static final Defaults NONE = new Defaults(new LinkedHashMap<>(), _ -> {
            throw new IllegalStateException("a graph without defaults has nothing to override");
        });

        Defaults {
            types = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(types));
        }
    }

    Graph(
            String name,
            List<Value> inputs,
            List<Value> parameters,
            List<Node> nodes,
            Map<String, Value> outputs,
            Defaults defaults) {
        this.name = name;
        this.inputs = List.copyOf(inputs);
        this.parameters = List.copyOf(parameters);
        this.nodes = List.copyOf(nodes);
        this.outputs = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(outputs));
        this.defaults = defaults;
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

    /** The types of the values that a run may give in the place of constants of this graph, by name. */
    public SequencedMap<String, TensorType> defaults() {
        return defaults.types();
    }

    /** The names among those given whose defaults a run replaces. */
    public Set<String> overridden(Set<String> given) {
        Require.nonNull(given, "given");
        if (defaults.types().isEmpty()) {
            return Set.of();
        }
        Set<String> overridden = new LinkedHashSet<>(given);
        overridden.retainAll(defaults.types().keySet());
        return overridden;
    }

    /**
     * The same computation with some defaults as inputs, which a run must then give. Nothing is computed from the
     * constants that it replaces.
     *
     * @throws InputException for a name without a default
     */
    public Graph overriding(Set<String> names) {
        if (!defaults.types().keySet().containsAll(Require.elements(names, "names"))) {
            throw new InputException("graph \"" + name + "\" has no defaults for all of " + names + "; it has "
                    + defaults.types().keySet());
        }
        return names.isEmpty() ? this : defaults.overriding().apply(names);
    }

    /**
     * The same inputs and those outputs alone, in that order, without the nodes that only others need.
     *
     * @throws InputException for a name that no output has
     */
    public Graph selecting(List<String> names) {
        SequencedMap<String, Value> selected = new LinkedHashMap<>();
        for (String output : Require.elements(names, "names")) {
            Value value = outputs.get(output);
            if (value == null) {
                throw InputException.of(
                        "outputs",
                        "graph \"" + name + "\" has no output \"" + output + "\"; expected one of " + outputs.keySet());
            }
            selected.put(output, value);
        }
        Set<Value> needed = new HashSet<>(selected.values());
        List<Node> kept = new ArrayList<>();
        for (Node node : nodes.reversed()) {
            if (node.outputs().stream().anyMatch(needed::contains)) {
                kept.add(node);
                needed.addAll(node.inputs());
            }
        }
        return new Graph(name, inputs, parameters, kept.reversed(), selected, defaults);
    }

    /** Who uses the values. */
    public Uses uses() {
        Uses known = uses;
        if (known == null) {
            known = new Uses(this);
            uses = known;
        }
        return known;
    }

    /** Numbers for the values. */
    public Numbering numbering() {
        Numbering known = numbering;
        if (known == null) {
            known = new Numbering(this);
            numbering = known;
        }
        return known;
    }

    /** Whether a node is of one of these operations. */
    public boolean hasAny(Set<Class<? extends Op>> operations) {
        Require.nonNull(operations, "operations");
        Set<Class<? extends Op>> known = kinds;
        if (known == null) {
            Set<Class<? extends Op>> found = new HashSet<>();
            for (Node node : nodes) {
                found.add(node.op().getClass());
            }
            known = Set.copyOf(found);
            kinds = known;
        }
        for (Class<? extends Op> operation : operations) {
            if (known.contains(operation)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a node is of that operation. */
    public boolean has(Class<? extends Op> operation) {
        return hasAny(Set.of(Require.nonNull(operation, "operation")));
    }

    /** The constants that nodes or outputs use, in order of first use. */
    public SequencedSet<Value> constants() {
        SequencedSet<Value> known = constants;
        if (known == null) {
            SequencedSet<Value> found = new LinkedHashSet<>();
            for (Node node : nodes) {
                addConstants(node, found);
            }
            outputs.values().forEach(value -> addConstant(value, found));
            known = Collections.unmodifiableSequencedSet(found);
            constants = known;
        }
        return known;
    }

    /** The data of the constants that nodes or outputs use, in order of first use. */
    public SequencedSet<ConstantData> constantData() {
        SequencedSet<ConstantData> known = constantData;
        if (known == null) {
            SequencedSet<ConstantData> all = new LinkedHashSet<>();
            constants().forEach(value -> all.add(Objects.requireNonNull(value.constant())));
            known = Collections.unmodifiableSequencedSet(all);
            constantData = known;
        }
        return known;
    }

    private static void addConstants(Node node, SequencedSet<Value> constants) {
        for (int i = 0; i < node.inputs().size(); i++) {
            addConstant(node.input(i), constants);
        }
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

    /** Which nodes use the values of a graph, as far as an output needs them. Immutable and thread-safe. */
    public static final class Uses {
        private final Numbering numbering;
        /** By number of a value: how many times needed nodes use it. */
        private final int[] counts;
        /** By number of a value: whether it is an output of the graph. */
        private final boolean[] outputs;

        private final boolean allLive;

        Uses(Graph graph) {
            numbering = graph.numbering();
            counts = new int[numbering.values().size()];
            outputs = new boolean[counts.length];
            for (Value output : graph.outputs().values()) {
                outputs[numbering.of(output)] = true;
            }
            boolean all = true;
            int number = counts.length - graph.parameters().size();
            for (int step = graph.nodes().size() - 1; step >= 0; step--) {
                Node node = graph.nodes().get(step);
                number -= node.outputs().size();
                all &= count(node, step, number);
            }
            allLive = all;
        }

        /** Counts what a node uses if it is needed, which it says; {@code first} is the number of its first result. */
        private boolean count(Node node, int step, int first) {
            boolean needed = false;
            for (int i = 0; i < node.outputs().size(); i++) {
                needed |= counts[first + i] > 0 || outputs[first + i];
            }
            for (int i = 0; needed && i < node.inputs().size(); i++) {
                counts[numbering.operand(step, i)]++;
            }
            return needed;
        }

        private boolean isNeeded(Node node) {
            for (Value result : node.outputs()) {
                int number = numbering.of(result);
                if (counts[number] > 0 || outputs[number]) {
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
            int number = numbering.find(value);
            return number >= 0 && counts[number] == 1 && !outputs[number];
        }

        /** How many times needed nodes use a value. */
        public int reads(Value value) {
            int number = numbering.find(value);
            return number < 0 ? 0 : counts[number];
        }

        /** Whether a value is an output of the graph. */
        public boolean isOutput(Value value) {
            int number = numbering.find(value);
            return number >= 0 && outputs[number];
        }
    }
}
