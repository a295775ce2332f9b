package dev.tenon.core.runtime;

import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Checks what a run gives against what a graph declares. */
final class Bindings {
    private Bindings() {}

    /**
     * The tensors in the order of the graph's inputs.
     *
     * @throws InputException naming the input, what was expected and what was given
     */
    static Tensor[] order(Graph graph, Map<String, Tensor> given) {
        List<Value> inputs = graph.inputs();
        Tensor[] ordered = new Tensor[inputs.size()];
        Map<String, Long> dims = new HashMap<>();
        for (int i = 0; i < ordered.length; i++) {
            Value input = inputs.get(i);
            Tensor tensor = given.get(input.name());
            if (tensor == null) {
                throw InputException.of(
                        input.name(),
                        "input \"" + input.name() + "\" is missing; " + expected(graph) + ", given: " + given.keySet());
            }
            check(input, tensor.type(), dims);
            tensor.requireReadable("input \"" + input.name() + "\"");
            ordered[i] = tensor;
        }
        if (given.size() > ordered.length) {
            List<String> unknown = new ArrayList<>(given.keySet());
            inputs.forEach(input -> unknown.remove(input.name()));
            throw new InputException("no input is named " + unknown + "; " + expected(graph));
        }
        return ordered;
    }

    /**
     * That a tensor can take an output of that type.
     *
     * @throws InputException naming the output, what was expected and what was given
     */
    static void requireTarget(String output, TensorType type, Tensor given) {
        String use = "output \"" + output + "\"";
        if (!given.type().equals(type)) {
            throw InputException.of(
                    output,
                    use + ": the run gives " + type + ", the tensor to fill is " + given.type()
                            + "; expected one of the run's type");
        }
        if (given.resident() != null) {
            throw InputException.of(output, use + ": the tensor to fill lies on a device; expected one in host memory");
        }
        given.requireReadable(use);
        if (given.segment().isReadOnly()) {
            throw InputException.of(
                    output, use + ": the tensor to fill is read-only; expected memory that may be written");
        }
    }

    /**
     * The concrete types of a graph's inputs once its named dims have those sizes.
     *
     * @throws InputException naming a dim without one
     */
    static List<TensorType> types(Graph graph, Map<String, Long> dims) {
        List<TensorType> types = new ArrayList<>();
        for (Value input : graph.inputs()) {
            if (!input.shape().isRanked()) {
                throw InputException.of(
                        input.name(), "input \"" + input.name() + "\" has no declared shape; only a run can bind it");
            }
            List<Dim> bound = new ArrayList<>();
            for (Dim dim : input.shape().dims()) {
                Long size = dim instanceof Dim.Named(String name)
                        ? dims.get(name)
                        : dim.isFixed() ? (Long) dim.size() : null;
                if (size == null) {
                    throw InputException.of(
                            input.name(),
                            "dim \"" + dim + "\" of input \"" + input.name() + "\" (" + input.type()
                                    + ") has no size; given: " + dims
                                    + "; a plan made ahead of time needs one of each named dim"
                                    + " (ShapeProfile.with)");
                }
                bound.add(Dim.of(size));
            }
            types.add(new TensorType(input.dtype(), Shape.of(bound)));
        }
        return types;
    }

    static Map<String, TensorType> named(Graph graph, List<TensorType> types) {
        Map<String, TensorType> named = new LinkedHashMap<>();
        for (int i = 0; i < types.size(); i++) {
            named.put(graph.inputs().get(i).name(), types.get(i));
        }
        return named;
    }

    private static void check(Value input, TensorType given, Map<String, Long> dims) {
        boolean fits = given.dtype() == input.dtype() && input.shape().mayEqual(given.shape());
        if (!fits) {
            throw InputException.of(
                    input.name(), "input \"" + input.name() + "\": expected " + input.type() + ", got " + given);
        }
        if (!input.shape().isRanked()) {
            return;
        }
        for (int axis = 0; axis < given.shape().rank(); axis++) {
            long size = given.shape().size(axis);
            if (input.shape().dim(axis) instanceof Dim.Named(String name)) {
                Long before = dims.putIfAbsent(name, size);
                if (before != null && before != size) {
                    throw InputException.of(
                            input.name(),
                            "input \"" + input.name() + "\": expected " + input.type() + " with " + name + " = "
                                    + before + " as in the inputs before it, got " + given);
                }
            }
        }
    }

    private static String expected(Graph graph) {
        return "expected: "
                + graph.inputs().stream()
                        .map(input -> input.name() + ": " + input.type())
                        .toList();
    }
}
