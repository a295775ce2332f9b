package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Set;

/** Drops the axes given as a value (each of size 1), or all of size 1. [x, axes? i64]. */
public record SqueezeAxes() implements Deferred {
    @Override
    public Arity arity() {
        return new Arity(1, 2);
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
