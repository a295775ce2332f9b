package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** The same values in memory of their own. [x] → [y], of x's type. */
public record Copy() implements Primitive {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return inputs;
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return inputs;
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        return List.of(inputs.getFirst().reshaped(inputs.getFirst().shape()));
    }
}
