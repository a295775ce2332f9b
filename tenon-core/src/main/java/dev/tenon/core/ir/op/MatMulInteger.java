package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** Product of 8-bit matrices less their zero points, in i32: sum (a - za)(b - zb). [a u8/i8, b u8/i8, za? (scalar or one a row), zb? (scalar or one a column)]. ONNX MatMulInteger-10. */
public record MatMulInteger(boolean zeroPointA, boolean zeroPointB) implements Primitive {
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
    public List<NdArray> evaluate(List<NdArray> inputs) {
        throw Unwritten.rule(this);
    }
}
