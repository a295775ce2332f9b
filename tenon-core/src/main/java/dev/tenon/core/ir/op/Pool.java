package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** Pooling over windows in N spatial dims: maximum, average or Lp norm (with {@code p}). [x [B,C,...]]. */
public record Pool(
        PoolFn fn,
        List<Long> kernel,
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        boolean ceil,
        boolean countPadding,
        long p)
        implements Primitive {
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
