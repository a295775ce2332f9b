package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** (x - zero point) * scale, in the scale's type. [x, scale, zero point?]. ONNX DequantizeLinear-21. */
public record Dequantize(int axis, long block, boolean zeroPoint) implements Primitive {
    @Override
    public Arity arity() {
        return new Arity(2, 3);
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
