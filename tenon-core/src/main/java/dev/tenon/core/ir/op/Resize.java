package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** Resampling to {@code sizes} (one a dim) with {@code scales} (one a dim, as the formulas use them) and {@code roi} (starts then ends, empty unless the coordinate mode crops). [x]. ONNX Resize-19. */
public record Resize(
        ResizeMode mode,
        CoordinateMode coordinates,
        NearestMode nearest,
        double cubicCoefficient,
        boolean excludeOutside,
        double extrapolation,
        boolean antialias,
        List<Double> scales,
        List<Long> sizes,
        List<Double> roi)
        implements Primitive {
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
    public List<NdArray> evaluate(List<NdArray> inputs) {
        throw Unwritten.rule(this);
    }
}
