package dev.tenon.core.ir.op.reduction;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * All elements of an axis in order, and where they were: {@link TopK} of them all, so stable, NaN counting as the
 * largest. [x of a number type] → [values, indices i64], both of x's shape.
 */
public record Sort(int axis, boolean descending) implements Composite {
    public Sort {
        Rules.fromFront("sort", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameNumeric(mnemonic(), inputs), DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.axis(mnemonic(), axis, inputs.getFirst());
        return List.of(inputs.getFirst(), inputs.getFirst());
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        return g.addAll(new TopK(inputs.getFirst().shape().size(axis), axis, descending, true), inputs);
    }
}
