package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;

/** Sum of products by index letters, as numpy's einsum with explicit or implicit result; decomposes to transposes, reshapes, MatMul and Reduce. [x...]. */
public record Einsum(String equation) implements Composite {
    @Override
    public Arity arity() {
        return Arity.atLeast(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        throw Unwritten.rule(this);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        throw Unwritten.rule(this);
    }

    @Override
    public List<Value> decompose(Ops g, List<Value> inputs) {
        throw Unwritten.rule(this);
    }
}
