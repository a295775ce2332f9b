package dev.tenon.core.ir.op.searching;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Set;

/**
 * The index tuples of the elements that are not zero, in row-major order, one a column; NaN is not zero.
 *
 * <p>[x of any type] → [indices i64 [rank of x, as many as there are]]. A scalar gives [0,0] or [0,1]. A search for all
 * of them, {@link NonZeroIndices}, then a cut to what was found. ONNX NonZero-13.
 */
public record NonZero() implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(Shape.of(Dim.of(inputs.getFirst().rank()), Dim.unknown()));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of();
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        List<Value> all = g.addAll(new NonZeroIndices(), inputs);
        return List.of(g.add(new FirstOf(1), all.get(0), all.get(1)));
    }
}
