package dev.tenon.core.ir;

import java.util.List;

/** Adds operations to a graph under construction. What operations there are is not known here: {@code build.Ops} adds them in words. */
public interface OpBuilder {
    /** Adds a node; its results in order. */
    List<Value> addAll(Op op, List<Value> operands);

    Value constant(ConstantData data);

    /** Adds a node; its first result. */
    default Value add(Op op, Value... operands) {
        return addAll(op, List.of(operands)).getFirst();
    }

    /** A scalar of that type. */
    default Value scalar(DType dtype, double value) {
        return constant(new ConstantData.Splat(TensorType.of(dtype), Elements.fromDouble(dtype, value)));
    }
}
