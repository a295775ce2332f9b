package dev.tenon.core.ir.rule;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Tells the types of a graph's results for inputs of more precise types than it declares, without running it. */
public final class ResultTypes {
    private final Map<Value, TensorType> types = new HashMap<>();
    private final Map<String, Dim> sizes = new HashMap<>();

    private ResultTypes() {}

    /** The types in the order of the outputs: dims stay unknown where only values decide about them. */
    public static List<TensorType> of(Graph graph, List<TensorType> inputs) {
        ResultTypes told = new ResultTypes();
        for (int i = 0; i < inputs.size(); i++) {
            told.bind(graph.inputs().get(i).shape(), inputs.get(i).shape());
            told.types.put(graph.inputs().get(i), inputs.get(i));
        }
        graph.nodes().forEach(told::infer);
        return graph.outputs().values().stream().map(told::type).toList();
    }

    private void bind(Shape declared, Shape given) {
        boolean alike = declared.isRanked() && given.isRanked() && declared.rank() == given.rank();
        for (int axis = 0; alike && axis < given.rank(); axis++) {
            if (declared.dim(axis) instanceof Dim.Named(String name)
                    && given.dim(axis).isFixed()) {
                sizes.putIfAbsent(name, given.dim(axis));
            }
        }
    }

    private TensorType type(Value value) {
        return types.computeIfAbsent(value, Value::type);
    }

    private void infer(Node node) {
        List<TensorType> inferred;
        try {
            inferred = node.op().infer(node.inputs().stream().map(this::type).toList());
        } catch (TenonException e) {
            // a node that these inputs do not fit is a fault of the run, if the run ever comes to it
            inferred = List.of();
        }
        for (int i = 0; i < node.outputs().size(); i++) {
            Value output = node.outputs().get(i);
            Shape declared = named(output.shape());
            types.put(
                    output,
                    new TensorType(
                            output.dtype(),
                            i < inferred.size() ? merge(inferred.get(i).shape(), declared) : declared));
        }
    }

    private Shape named(Shape declared) {
        if (!declared.isRanked()) {
            return declared;
        }
        return Shape.of(declared.dims().stream()
                .map(dim -> dim instanceof Dim.Named(String name) ? sizes.getOrDefault(name, dim) : dim)
                .toList());
    }

    private static Shape merge(Shape inferred, Shape declared) {
        if (!inferred.isRanked() || !declared.isRanked() || inferred.rank() != declared.rank()) {
            return inferred.isRanked() ? inferred : declared;
        }
        List<Dim> dims = new ArrayList<>();
        for (int axis = 0; axis < inferred.rank(); axis++) {
            dims.add(inferred.dim(axis).merge(declared.dim(axis)));
        }
        return Shape.of(dims);
    }
}
