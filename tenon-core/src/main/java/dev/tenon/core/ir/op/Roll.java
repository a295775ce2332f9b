package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;

/** Moves the elements of an axis on by a number of places, those past its end to its front; a negative number the other way. [x of any type] → [y like x]. numpy.roll. */
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
    public List<Value> decompose(Ops g, List<Value> inputs) {
        Value x = inputs.getFirst();
        long size = x.shape().size(axis);
        long moved = size == 0 ? 0 : Math.floorMod(places, size);
        return moved == 0
                ? inputs
                : List.of(g.concat(axis, g.narrow(x, axis, size - moved, size), g.narrow(x, axis, 0, size - moved)));
    }
}
