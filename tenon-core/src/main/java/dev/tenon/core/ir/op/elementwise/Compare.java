package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Compares two values of one type, element by element, with numpy broadcasting; a NaN is unequal to everything, itself
 * too.
 *
 * <p>[a, b] → [bool], of the broadcast shape. Booleans can be equal or not, but have no order.
 */
public record Compare(CompareFn fn) implements Elementwise {
    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.require(fn.word(), "inputs", Rules.same(fn.word(), inputs), fn.accepts());
        return List.of(DType.BOOL);
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
        for (int i = 0; i < y.size(); i++) {
            boolean holds = a.dtype().isFloat()
                    ? fn.test(a.get(atA[i]), b.get(atB[i]))
                    : fn.test(a.dtype(), a.getLong(atA[i]), b.getLong(atB[i]));
            y.set(i, holds ? 1L : 0L);
        }
        return List.of(y);
    }
}
