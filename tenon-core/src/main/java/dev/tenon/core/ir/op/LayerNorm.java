package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** (x - mean) / sqrt(variance + epsilon) over the dims from {@code axis} on, times scale, plus bias (both broadcast to those dims). [x, scale?, bias?]. */
public record LayerNorm(int axis, double epsilon, boolean scale, boolean bias) implements Primitive {
    @Override
    public Arity arity() {
        return new Arity(1, 3);
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
