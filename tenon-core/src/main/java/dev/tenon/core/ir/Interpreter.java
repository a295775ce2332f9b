package dev.tenon.core.ir;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * Runs graphs in float64 on the heap, with each operation's own reference: what every backend is measured against, and
 * what folds small constants. Composites are decomposed and deferred operations resolved as they are met, with the
 * values at hand.
 *
 * <p>Floats are rounded where the graph says so (casts, constants), not after each node. Each result's type is checked
 * against the operation's rule. Thread-safe: a run keeps its state to itself.
 */
public final class Interpreter {
    private final Map<Value, NdArray> values = new HashMap<>();

    private Interpreter() {}

    /**
     * Runs a graph.
     *
     * @param given a value for each input and parameter, by name, and for those of the graph's defaults that it
     *     replaces
     * @return the outputs, by name, in the graph's order
     * @throws InputException when a value is missing, its type does not fit, or a name is none of the graph's
     */
    public static SequencedMap<String, NdArray> run(Graph graph, Map<String, NdArray> given) {
        Set<String> overridden = graph.overridden(given.keySet());
        if (!overridden.isEmpty()) {
            return run(graph.overriding(overridden), given);
        }
        Interpreter run = new Interpreter();
        Map<String, Long> bound = new HashMap<>();
        for (Value value : graph.inputs()) {
            run.values.put(value, fitting(value, given, bound));
        }
        for (Value value : graph.parameters()) {
            run.values.put(value, fitting(value, given, bound));
        }
        if (given.size() > run.values.size()) {
            throw new InputException("values are given for " + given.keySet() + "; expected "
                    + run.values.keySet().stream().map(Value::name).toList());
        }
        run.run(graph);
        SequencedMap<String, NdArray> outputs = new LinkedHashMap<>();
        graph.outputs().forEach((name, value) -> outputs.put(name, run.get(value)));
        return outputs;
    }

    /** Runs one operation, of any kind. */
    public static List<NdArray> run(Op op, List<NdArray> inputs) {
        List<TensorType> wanted = op.infer(inputs.stream().map(NdArray::type).toList());
        List<NdArray> results = switch (op) {
            case Primitive primitive -> primitive.evaluate(inputs);
            case Composite composite -> expand(inputs, composite::decompose);
            case Control control -> control.evaluate(inputs);
            case Deferred deferred -> expand(inputs, (g, in) -> deferred.resolve(g, in, Known.of(inputs)));
        };
        check(op, wanted, results);
        return results;
    }

    private static List<NdArray> expand(List<NdArray> inputs, BiFunction<OpBuilder, List<Value>, List<Value>> body) {
        Map<String, NdArray> given = new LinkedHashMap<>();
        Graph graph = PlainGraphBuilder.assemble("expansion", g -> {
            List<Value> stand = new ArrayList<>();
            for (NdArray input : inputs) {
                String name = "in" + stand.size();
                given.put(name, input);
                stand.add(g.input(name, input.type()));
            }
            List<Value> results = body.apply(g, stand);
            for (int i = 0; i < results.size(); i++) {
                g.output("out" + i, results.get(i));
            }
        });
        return List.copyOf(run(graph, given).values());
    }

    private void run(Graph graph) {
        for (Node node : graph.nodes()) {
            List<NdArray> results;
            try {
                results = run(node.op(), node.inputs().stream().map(this::get).toList());
            } catch (TenonException e) {
                throw node.fault(e);
            }
            for (int i = 0; i < results.size(); i++) {
                values.put(node.outputs().get(i), results.get(i));
            }
        }
    }

    private NdArray get(Value value) {
        if (value.origin() instanceof Value.Origin.Constant(ConstantData data)) {
            return values.computeIfAbsent(value, _ -> NdArray.of(data));
        }
        return Objects.requireNonNull(values.get(value), value::toString);
    }

    private static NdArray fitting(Value value, Map<String, NdArray> given, Map<String, Long> bound) {
        NdArray array = given.get(value.name());
        if (array == null) {
            throw new InputException("no value for " + value + "; given are " + given.keySet());
        }
        if (array.dtype() != value.dtype() || !array.shape().mayEqual(value.shape())) {
            throw new InputException("value for " + value + " is " + array.type() + "; expected " + value.type());
        }
        if (value.shape().isRanked()) {
            for (int axis = 0; axis < value.shape().rank(); axis++) {
                if (value.shape().dim(axis) instanceof Dim.Named(String name)) {
                    long size = array.shape().size(axis);
                    Long before = bound.putIfAbsent(name, size);
                    if (before != null && before != size) {
                        throw new InputException("value for " + value + " is " + array.type() + "; expected dim " + name
                                + " = " + before + ", as elsewhere");
                    }
                }
            }
        }
        return array;
    }

    /** That the results have the types the rule gave: a deferred operation's may be more precise. */
    private static void check(Op op, List<TensorType> wanted, List<NdArray> results) {
        boolean fits = wanted.size() == results.size();
        for (int i = 0; fits && i < wanted.size(); i++) {
            fits = wanted.get(i).dtype() == results.get(i).dtype()
                    && wanted.get(i).shape().mayEqual(results.get(i).shape());
        }
        if (!fits) {
            throw new IllegalStateException(op + " gave "
                    + results.stream().map(NdArray::type).toList() + " where its own rules say " + wanted);
        }
    }
}
