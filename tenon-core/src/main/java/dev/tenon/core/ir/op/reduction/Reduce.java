package dev.tenon.core.ir.op.reduction;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Reduces the axes (distinct, from the front) to one element each.
 *
 * <p>[x] → [y]: x's shape without those axes, or with 1 in their place; no axes leave a function of each element alone.
 * Floats take every function but {@code ANY} and {@code ALL}, which take booleans; integers all of those too, sums and
 * products wrapping, {@code MEAN} the sum in 64 bits divided and truncated, {@code L2 LOG_SUM LOG_SUM_EXP} computed as
 * floats and truncated; booleans {@code MAX} and {@code MIN} too. An empty set gives the identity: 0, 1, -inf for the
 * logarithms, and NaN for the mean of floats; max and min of an empty set, with a non-empty result, are an error, as is
 * the mean of no integers.
 */
public record Reduce(ReduceFn fn, List<Integer> axes, boolean keepDims) implements Primitive {
    public Reduce {
        axes = List.copyOf(axes);
        axes.forEach(axis -> Rules.fromFront("reduce", axis));
        if (new HashSet<>(axes).size() < axes.size()) {
            throw new ShapeException("reduce: axes " + axes + " name one twice; expected distinct axes");
        }
    }

    private String word() {
        return "reduce " + fn.word();
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.require(word(), "input", inputs.getFirst(), fn.accepts()));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        List<Dim> dims = new ArrayList<>();
        boolean empty = false;
        axes.forEach(axis -> Rules.axis(word(), axis, x));
        for (int axis = 0; axis < x.rank(); axis++) {
            boolean reduced = axes.contains(axis);
            empty |= reduced && x.dim(axis).is(0);
            if (!reduced) {
                dims.add(x.dim(axis));
            } else if (keepDims) {
                dims.add(Dim.of(1));
            }
        }
        Shape y = Shape.of(dims);
        if (empty && !fn.hasIdentity() && y.isConcrete() && y.elements() > 0) {
            throw new ShapeException(
                    word() + ": has no identity for the empty axes " + axes + " of " + x + "; expected elements there");
        }
        return List.of(y);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        Shape shape = x.shape();
        long[] strides = shape.strides();
        int[] kept = IntStream.range(0, shape.rank())
                .filter(axis -> !axes.contains(axis))
                .toArray();
        int[] reduced = IntStream.range(0, shape.rank()).filter(axes::contains).toArray();
        int[] bases = offsets(shape, strides, kept);
        int[] members = offsets(shape, strides, reduced);
        for (int i = 0; i < y.size(); i++) {
            int base = bases[i];
            if (x.dtype().isFloat()) {
                y.set(i, Reductions.floats(fn, members.length, j -> x.get(base + members[j])));
            } else {
                Reductions.integers(fn, x, base, members, y, i);
            }
        }
        return List.of(y);
    }

    private static int[] offsets(Shape shape, long[] strides, int[] axes) {
        return Indexing.offsets(
                IntStream.of(axes).mapToLong(shape::size).toArray(),
                0,
                IntStream.of(axes).mapToLong(axis -> strides[axis]).toArray());
    }
}
