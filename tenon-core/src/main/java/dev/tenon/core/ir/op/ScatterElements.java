package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** A copy of data with updates put at (or added to, multiplied into, ...) the indices along an axis; in index order, so the result never depends on threads; duplicates add in the accumulator's type. [data, indices, updates]. ONNX ScatterElements-18. */
public record ScatterElements(int axis, ScatterFn fn) implements Primitive {
    @Override
    public Arity arity() {
        return Arity.exactly(3);
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
