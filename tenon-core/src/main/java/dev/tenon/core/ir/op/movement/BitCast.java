package dev.tenon.core.ir.op.movement;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/** The same bits as another type of as many bits. [x] → [y], of x's shape and type {@code to}. */
public record BitCast(DType to) implements Primitive {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType from = inputs.getFirst();
        Rules.require(
                mnemonic(),
                "input",
                from,
                type -> type.bits() == to.bits(),
                "a type of " + to.bits() + " bits, as " + to + " has");
        return List.of(to);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return inputs;
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        for (int i = 0; i < y.size(); i++) {
            long bits = x.dtype().isFloat()
                    ? Elements.fromDouble(x.dtype(), x.get(i))
                    : Elements.fromLong(x.dtype(), x.getLong(i));
            if (to.isFloat()) {
                y.set(i, Elements.toDouble(to, bits));
            } else {
                y.set(i, Elements.toLong(to, bits));
            }
        }
        return List.of(y);
    }
}
