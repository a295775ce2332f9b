package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Set;

/** The sizes of the axes [start, end) of its input (negative ones from the back, clamped; end Long.MAX_VALUE: all), i64. Needs no value, only a concrete shape. [x]. */
public record ShapeOf(long start, long end) implements Deferred {
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
    public Set<Integer> neededValues() {
        throw Unwritten.rule(this);
    }

    @Override
    public List<Value> resolve(Ops g, List<Value> inputs, Known known) {
        throw Unwritten.rule(this);
    }
}
