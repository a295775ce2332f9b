package dev.tenon.core.ir.op;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;

/**
 * x / (L1 or L2 norm along an axis); 0 where the norm is 0.
 *
 * <p>[x] → [y], of x's shape and float type; p is 1 or 2. Worked out in the accumulator's type. ONNX LpNormalization-22.
 */
public record LpNorm(int axis, long p) implements Composite {
    public LpNorm {
        Rules.fromFront("lp_norm", axis);
        if (p != 1 && p != 2) {
            throw new ShapeException("lp_norm: p is " + p + "; expected 1 or 2");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.axis(mnemonic(), axis, inputs.getFirst());
        return inputs;
    }

    @Override
    public List<Value> decompose(Ops g, List<Value> inputs) {
        DType type = inputs.getFirst().dtype();
        DType wide = type.accumulator();
        Value x = g.cast(inputs.getFirst(), wide);
        Value norm = g.reduce(p == 1 ? ReduceFn.L1 : ReduceFn.L2, x, true, axis);
        Value isZero = g.compare(CompareFn.EQ, norm, g.scalar(wide, 0));
        Value divisor = g.where(isZero, g.scalar(wide, 1), norm);
        return List.of(g.cast(g.div(x, divisor), type));
    }
}
