package dev.tenon.core.ir.op.movement;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Moves the elements of an axis on by a number of places, those past its end to its front; a negative number the other
 * way. [x of any type] → [y like x]. numpy.roll.
 */
public record Roll(int axis, long places) implements Composite {
    public Roll {
        Rules.fromFront("roll", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return inputs;
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.axis(mnemonic(), axis, inputs.getFirst());
        return inputs;
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value x = inputs.getFirst();
        long size = x.shape().size(axis);
        long moved = size == 0 ? 0 : Math.floorMod(places, size);
        return moved == 0
                ? inputs
                : List.of(g.add(
                        new Concat(axis),
                        g.add(Slice.along(x.shape(), axis, size - moved, size), x),
                        g.add(Slice.along(x.shape(), axis, 0, size - moved), x)));
    }
}
