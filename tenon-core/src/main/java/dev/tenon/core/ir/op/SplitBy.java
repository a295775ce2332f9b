package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Set;

/** Split into sizes given as a value; how many results there are is the node's own business. [x, sizes i64]. */
public record SplitBy(int axis, int results) implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(2);
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
    public Set<Integer> neededValues() {
        throw Unwritten.rule(this);
    }

    @Override
    public List<Value> resolve(Ops g, List<Value> inputs, Known known) {
        throw Unwritten.rule(this);
    }
}
