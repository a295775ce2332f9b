package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** saturate(round_half_even(x / scale) + zero point). [x, scale (scalar, one an index of {@code axis}, or blocked), zero point?]. ONNX QuantizeLinear-21. */
public record Quantize(DType to, int axis, long block, boolean zeroPoint) implements Primitive {
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
