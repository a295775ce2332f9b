package dev.tenon.core.ir.op.searching;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.util.List;

/**
 * The index tuples of the elements that are not zero, in row-major order, and their number; the columns behind them are
 * 0.
 *
 * <p>[x of any type] → [indices i64 [rank of x, elements of x], count i64 []].
 */
public record NonZeroIndices() implements InUnits {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(DType.I64, DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Dim elements = x.dims().stream().reduce(Dim.of(1), Dim::times);
        return List.of(Shape.of(Dim.of(x.rank()), elements), Shape.scalar());
    }

    @Override
    public long units(List<TensorType> inputs) {
        return 1;
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        return inputs.getFirst().shape().elements();
    }

    @Override
    public void compute(Operands at, long from, long to) {
        Shape x = at.input(0).shape();
        boolean floats = at.input(0).dtype().isFloat();
        long elements = x.elements();
        long[] strides = x.strides();
        long count = 0;
        for (long i = 0; i < elements; i++) {
            // a double has no room for every long: near zero it does, but -0.0 is zero too
            if (floats ? at.get(0, i) != 0 : at.getLong(0, i) != 0) {
                for (int axis = 0; axis < strides.length; axis++) {
                    at.setLong(0, axis * elements + count, i / strides[axis] % x.size(axis));
                }
                count++;
            }
        }
        for (int axis = 0; axis < strides.length; axis++) {
            for (long i = count; i < elements; i++) {
                at.setLong(0, axis * elements + i, 0);
            }
        }
        at.setLong(1, 0, count);
    }
}
