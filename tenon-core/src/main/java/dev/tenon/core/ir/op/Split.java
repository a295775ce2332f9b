package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;

/** Consecutive pieces of those sizes along an axis. [x] -> one result a size. */
public record Split(int axis, List<Long> sizes) implements Composite {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
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
