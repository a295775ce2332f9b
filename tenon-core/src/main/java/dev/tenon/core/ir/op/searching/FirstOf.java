package dev.tenon.core.ir.op.searching;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;

/**
 * The first elements of an axis, as many as a value says: what cuts the results of searches to the size that was found.
 *
 * <p>[x, count i64 of one element] → [y], of x's type. The count is from 0 to the axis's size.
 */
public record FirstOf(int axis) implements Deferred {
    public FirstOf {
        Rules.fromFront("first_of", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "count", inputs.get(1));
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.axis(mnemonic(), axis, inputs.getFirst());
        Rules.single(mnemonic(), "count", inputs.get(1));
        return List.of(inputs.getFirst().with(axis, Dim.unknown()));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Value x = inputs.getFirst();
        long count = known.single(1);
        long size = x.shape().size(axis);
        if (count < 0 || count > size) {
            throw new DataException(mnemonic() + ": count " + count + " for axis " + axis + " of " + x.shape()
                    + "; expected 0 to " + size);
        }
        return List.of(count == size ? x : g.add(Slice.along(x.shape(), axis, 0, count), x));
    }
}
