package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * x / (L1 or L2 norm along an axis); 0 where the norm is 0.
 *
 * <p>[x] → [y], of x's shape and float type; p is 1 or 2. Worked out in the accumulator's type. ONNX
 * LpNormalization-22.
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
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        DType type = inputs.getFirst().dtype();
        DType wide = type.accumulator();
        Value x = Cast.to(g, inputs.getFirst(), wide);
        Value norm = g.add(new Reduce(p == 1 ? ReduceFn.L1 : ReduceFn.L2, List.of(axis), true), x);
        Value isZero = g.add(new Compare(CompareFn.EQ), norm, g.scalar(wide, 0));
        Value divisor = g.add(new Where(), isZero, g.scalar(wide, 1), norm);
        return List.of(Cast.to(g, g.add(new Binary(BinaryFn.DIV), x, divisor), type));
    }
}
