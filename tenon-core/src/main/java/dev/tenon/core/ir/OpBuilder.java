package dev.tenon.core.ir;

import dev.tenon.core.error.Require;
import java.util.Arrays;
import java.util.List;

/**
 * Adds operations to a graph under construction. What operations there are is not known here: {@code build.Ops} adds
 * them in words.
 */
public interface OpBuilder {
    /** Adds a node; its results in order. */
    List<Value> addAll(Op op, List<Value> operands);

    /** Adds a value that is part of the graph. */
    Value constant(ConstantData data);

    /** Adds a node; its first result. */
    default Value add(Op op, Value... operands) {
        return addAll(op, Arrays.asList(Require.nonNull(operands, "operands"))).getFirst();
    }

    /** A scalar of that type. */
    default Value scalar(DType dtype, double value) {
        Require.nonNull(dtype, "dtype");
        return constant(new ConstantData.Splat(TensorType.of(dtype), Elements.fromDouble(dtype, value)));
    }
}
