package dev.tenon.core.ir.op.filling;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Set;

/** The number of elements. [x] → [i64 scalar]; any type. Needs no value, only a concrete shape. ONNX Size-13. */
public record SizeOf() implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(Shape.scalar());
    }

    /** A scalar, whatever the input's rank. */
    @Override
    public List<TensorType> infer(List<TensorType> inputs) {
        return inputs.size() == 1 ? List.of(TensorType.of(DType.I64)) : Deferred.super.infer(inputs);
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of();
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        long elements = inputs.getFirst().shape().elements();
        return List.of(g.constant(new ConstantData.Splat(TensorType.of(DType.I64), elements)));
    }
}
