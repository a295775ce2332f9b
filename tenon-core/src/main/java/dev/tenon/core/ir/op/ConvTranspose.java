package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** The gradient of Conv with respect to its input, used as an upsampling. [x [B,C,...], w [C,O/groups,...], bias? [O], residual?]. */
public record ConvTranspose(
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        List<Long> outputPadding,
        long groups,
        Epilogue epilogue)
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
