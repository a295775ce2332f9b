package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Set;

/** Resize with scales or sizes given as a value. [x, roi?, scales?, sizes?]. ONNX Resize-19. */
public record ResizeBy(
        ResizeMode mode,
        CoordinateMode coordinates,
        NearestMode nearest,
        double cubicCoefficient,
        boolean excludeOutside,
        double extrapolation,
        boolean antialias,
        AspectPolicy aspect,
        List<Integer> axes,
        boolean roi,
        boolean scales,
        boolean sizes)
        implements Deferred {
    @Override
    public Arity arity() {
        return new Arity(2, 4);
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
