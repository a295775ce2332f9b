package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** x as u8 with the scale and zero point that its own range (0 included) asks for. [x f32] -> [y u8, scale f32 scalar, zero point u8 scalar]. ONNX DynamicQuantizeLinear-11. */
public record DynamicQuantize() implements Primitive {
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
