package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** Where the maximum or minimum of an axis is: i64; the first on ties, or the last. NaN wins. [x]. */
public record ArgReduce(boolean max, int axis, boolean keepDims, boolean last) implements Primitive {
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
