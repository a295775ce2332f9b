package dev.tenon.core.ir.op.movement;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Along each axis, {@code sizes} elements from {@code starts} on, {@code steps} apart (negative steps run backwards);
 * everything in range.
 *
 * <p>[x] → [y], of x's type and those sizes. Where a size is 0 its start is not looked at.
 */
public record Slice(List<Long> starts, List<Long> sizes, List<Long> steps) implements Primitive {
    public Slice {
        starts = List.copyOf(starts);
        sizes = List.copyOf(sizes);
        steps = List.copyOf(steps);
        if (starts.size() != sizes.size() || steps.size() != sizes.size()) {
            throw new ShapeException("slice: starts " + starts + ", sizes " + sizes + " and steps " + steps
                    + " differ in number; expected one each an axis");
        }
        for (int axis = 0; axis < sizes.size(); axis++) {
            if (sizes.get(axis) < 0
                    || steps.get(axis) == 0
                    || (sizes.get(axis) > 0 && least(starts, sizes, steps, axis) < 0)) {
                throw new ShapeException("slice: start " + starts.get(axis) + ", size " + sizes.get(axis) + ", step "
                        + steps.get(axis) + " of axis " + axis
                        + " leave the axis; expected indices and a size of 0 or more, and a step other than 0");
            }
        }
    }

    private static long last(List<Long> starts, List<Long> sizes, List<Long> steps, int axis) {
        return SizeMath.sum("slice", starts.get(axis), SizeMath.product("slice", sizes.get(axis) - 1, steps.get(axis)));
    }

    private static long least(List<Long> starts, List<Long> sizes, List<Long> steps, int axis) {
        return Math.min(starts.get(axis), last(starts, sizes, steps, axis));
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
        Shape x = inputs.getFirst();
        Rules.rank(mnemonic(), "x", x, sizes.size());
        for (int axis = 0; axis < sizes.size(); axis++) {
            long greatest = Math.max(starts.get(axis), last(starts, sizes, steps, axis));
            if (sizes.get(axis) > 0 && x.dim(axis).isFixed() && greatest >= x.size(axis)) {
                throw new ShapeException(mnemonic() + ": reads index " + greatest + " of axis " + axis + " of " + x
                        + "; expected at most " + (x.size(axis) - 1));
            }
        }
        return List.of(Shape.ofSizes(sizes));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        Shape shape = Rules.results(this, inputs).getFirst().shape();
        long[] strides = x.shape().strides();
        long base = 0;
        for (int axis = 0; axis < strides.length; axis++) {
            boolean moves = shape.elements() > 0; // where nothing is read, starts and steps may be anything
            base += moves ? SizeMath.product("slice", starts.get(axis), strides[axis]) : 0;
            strides[axis] =
                    shape.size(axis) > 1 && moves ? SizeMath.product("slice", strides[axis], steps.get(axis)) : 0;
        }
        return List.of(Indexing.view(x, shape, base, strides));
    }

    /** The elements [from, to) of an axis, from the front, of a concrete shape. */
    public static Slice along(Shape shape, int axis, long from, long to) {
        int rank = shape.rank();
        return new Slice(
                IntStream.range(0, rank).mapToObj(i -> i == axis ? from : 0L).toList(),
                IntStream.range(0, rank)
                        .mapToObj(i -> i == axis ? to - from : shape.size(i))
                        .toList(),
                Collections.nCopies(rank, 1L));
    }
}
