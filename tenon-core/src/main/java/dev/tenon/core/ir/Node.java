package dev.tenon.core.ir;

import dev.tenon.core.error.TenonException;
import java.util.List;

/** One application of an operation. Identity counts. Immutable once its graph is built. */
public final class Node {
    private final String name;
    private final Op op;
    private final List<Value> inputs;
    private final List<Value> outputs;

    Node(String name, Op op, List<Value> inputs, List<String> outputNames, List<TensorType> outputTypes) {
        this.name = name;
        this.op = op;
        this.inputs = List.copyOf(inputs);
        Value[] results = new Value[outputTypes.size()];
        for (int i = 0; i < results.length; i++) {
            results[i] = new Value(outputNames.get(i), outputTypes.get(i), new Value.Origin.Result(this, i));
        }
        this.outputs = List.of(results);
    }

    /** The name the model gave the node, or one made from its operation; for messages, not an identity. */
    public String name() {
        return name;
    }

    public Op op() {
        return op;
    }

    public List<Value> inputs() {
        return inputs;
    }

    public Value input(int index) {
        return inputs.get(index);
    }

    public List<Value> outputs() {
        return outputs;
    }

    public Value output() {
        return outputs.getFirst();
    }

    /**
     * Returns a fault that happened while this node was prepared or run, with the node's name, operation and the types
     * of its inputs.
     */
    public TenonException fault(TenonException e) {
        List<String> types =
                inputs.stream().map(value -> value.type().toString()).toList();
        return e.within(op.mnemonic(), types).at(name);
    }

    @Override
    public String toString() {
        return op + " \"" + name + "\" " + inputs + " -> " + outputs;
    }
}
