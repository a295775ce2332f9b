package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** Conv of 8-bit values less their zero points, in i32; padding stands for the zero point. [x, w, zx? scalar, zw? scalar or [O]]. ONNX ConvInteger-10. */
public record ConvInteger(
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        long groups,
        boolean zeroPointX,
        boolean zeroPointW)
        implements Primitive {
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
