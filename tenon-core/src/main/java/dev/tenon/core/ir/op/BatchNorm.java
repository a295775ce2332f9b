package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;

/** Inference: (x - mean) * scale / sqrt(variance + epsilon) + bias, by channel. [x [B,C,...], scale, bias, mean, variance, each [C]]. */
public record BatchNorm(double epsilon) implements Composite {
    @Override
    public Arity arity() {
        return Arity.exactly(5);
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
