package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** A new axis of {@code depth}: values[1] at the index, values[0] elsewhere; an index out of [-depth, depth) gives all values[0]. [indices, values [2]]. ONNX OneHot-11. */
public record OneHot(long depth, int axis) implements Primitive {
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
    public List<NdArray> evaluate(List<NdArray> inputs) {
        throw Unwritten.rule(this);
    }
}
