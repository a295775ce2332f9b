package dev.tenon.core.ir.op.searching;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;

/**
 * The different slices of an axis, in ascending order or in that of their first appearance. Slices are compared element
 * by element; NaN equals NaN and comes last, both zeros are equal.
 *
 * <p>[x] → [y of x's type, index i64 vector of first appearances, inverse i64 [size of the axis], counts i64 vector].
 * ONNX Unique-11, its form without an axis over the flattened tensor.
 */
public record Unique(int axis, boolean sorted) implements Deferred {
    public Unique {
        Rules.fromFront("unique", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(inputs.getFirst(), DType.I64, DType.I64, DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.axis(mnemonic(), axis, x);
        return List.of(x.with(axis, Dim.unknown()), Shape.unknown(1), Shape.of(x.dim(axis)), Shape.unknown(1));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of();
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        List<Value> all = g.addAll(new UniqueIndices(axis, sorted), inputs);
        Value count = all.get(3);
        Value first = g.add(new FirstOf(0), all.get(0), count);
        return List.of(
                g.add(new Gather(axis), inputs.getFirst(), first),
                first,
                all.get(1),
                g.add(new FirstOf(0), all.get(2), count));
    }
}
