package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** data's slices along an axis, in the order of the indices (i32 or i64, negative ones from the end; out of range is a DataException). [data, indices] -> data.shape[:axis] + indices.shape + data.shape[axis+1:]. */
public record Gather(int axis) implements Primitive {
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
