package dev.tenon.core.backend;

import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.PlainGraphBuilder;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.tensor.Tensor;
import java.util.List;

/** The types that a program takes and gives, in the order of its graph's inputs and outputs. */
public record Signature(List<TensorType> inputs, List<TensorType> outputs) {
    public Signature {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }

    public static Signature of(Graph graph) {
        return new Signature(
                PlainGraphBuilder.types(graph.inputs()),
                PlainGraphBuilder.types(List.copyOf(graph.outputs().values())));
    }

    /** That a run was given what the program takes. @throws InputException naming the first input that differs */
    public void check(Tensor[] given) {
        if (given.length != inputs.size()) {
            throw new InputException("the plan takes " + inputs.size() + " input(s), got " + given.length);
        }
        for (int i = 0; i < given.length; i++) {
            if (!given[i].type().equals(inputs.get(i))) {
                throw new InputException(
                        "input " + i + " of the plan is " + inputs.get(i) + ", got " + given[i].type());
            }
        }
    }
}
