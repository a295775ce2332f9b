package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * One function of two numbers of one type, element by element, with numpy broadcasting; {@link BinaryFn} says what each
 * means.
 *
 * <p>[a, b] → [y], of the broadcast shape and the operands' type. {@link BinaryFn#accepts} says which types a function
 * takes.
 */
public record Binary(BinaryFn fn) implements Elementwise {
    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.require(fn.word(), "inputs", Rules.same(fn.word(), inputs), fn.accepts()));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(Rules.broadcast(fn.word(), inputs));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray y = Rules.result(this, inputs);
        NdArray a = inputs.get(0);
        NdArray b = inputs.get(1);
        int[] atA = Indexing.broadcast(a.shape(), y.shape());
        int[] atB = Indexing.broadcast(b.shape(), y.shape());
        boolean floats = y.dtype().isFloat();
        for (int i = 0; i < y.size(); i++) {
            if (floats) {
                y.set(i, fn.apply(a.get(atA[i]), b.get(atB[i])));
            } else {
                y.set(i, fn.apply(y.dtype(), a.getLong(atA[i]), b.getLong(atB[i])));
            }
        }
        return List.of(y);
    }
}
