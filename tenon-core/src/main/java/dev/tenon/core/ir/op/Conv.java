package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** Cross-correlation in N spatial dims, zero padded. [x [B,C,...], w [O,C/groups,...], bias? [O], residual? like the result]. */
public record Conv(
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
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
