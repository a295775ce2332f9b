package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;

/** Normalises each group of channels of each sample. [x [B,C,...], scale [C], bias [C]]. ONNX GroupNormalization-21. */
public record GroupNorm(long groups, double epsilon) implements Composite {
    @Override
    public Arity arity() {
        return Arity.exactly(3);
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
    public List<Value> decompose(Ops g, List<Value> inputs) {
        throw Unwritten.rule(this);
    }
}
