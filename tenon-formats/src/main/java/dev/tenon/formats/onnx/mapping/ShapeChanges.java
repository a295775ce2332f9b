package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.SqueezeAxes;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Changes of shape that mappings share: with static operations where all sizes are known, with deferred ones and the
 * most precise type that can be told where they are not.
 */
final class ShapeChanges {
    private ShapeChanges() {}

    /** The sizes of the axes [from, to) of a value of known rank, as a vector. */
    static Value sizes(NodeContext n, Value x, int from, int to) {
        Shape range = x.shape().range(from, to);
        return range.isConcrete() ? n.longs(range.sizes()) : n.add(new ShapeOf(from, to), x);
    }

    /** All sizes of a value, of known rank or not. */
    static Value sizes(NodeContext n, Value x) {
        return x.shape().isConcrete() ? n.longs(x.shape().sizes()) : n.add(new ShapeOf(0, Long.MAX_VALUE), x);
    }

    /** The product of the sizes of the axes [from, to), as a vector of one. */
    static Value product(NodeContext n, Value x, int from, int to) {
        Shape range = x.shape().range(from, to);
        return range.isConcrete()
                ? n.longs(range.elements())
                : n.add(new Reduce(ReduceFn.PROD, List.of(0), true), sizes(n, x, from, to));
    }

    /** Inserts axes of size 1 at those positions of the result, negative ones from its end. */
    static Value unsqueeze(NodeContext n, Value x, List<Long> axes) {
        if (!x.shape().isRanked()) {
            return n.add(new UnsqueezeAxes(), x, n.longs(axes));
        }
        int rank = x.shape().rank() + axes.size();
        Set<Integer> places = new TreeSet<>();
        Shape ofResult = Shape.unknown(rank);
        for (long axis : axes) {
            if (!places.add(ofResult.axis(axis))) {
                throw new ShapeException("axis " + axis + " is given twice");
            }
        }
        List<Dim> dims = new ArrayList<>(x.shape().dims());
        places.forEach(place -> dims.add(place, Dim.of(1)));
        return reshaped(n, x, Shape.of(dims), new UnsqueezeAxes(), axes);
    }

    /** Drops those axes, each of size 1. */
    static Value squeeze(NodeContext n, Value x, List<Long> axes) {
        if (!x.shape().isRanked()) {
            return n.add(new SqueezeAxes(), x, n.longs(axes));
        }
        Set<Integer> places = new TreeSet<>(Collections.reverseOrder());
        for (long axis : axes) {
            int place = x.shape().axis(axis);
            if (!x.shape().dim(place).mayEqual(Dim.of(1))) {
                throw new ShapeException("axis " + axis + " of shape " + x.shape() + " is not of size 1");
            }
            places.add(place);
        }
        List<Dim> dims = new ArrayList<>(x.shape().dims());
        places.forEach(place -> dims.remove((int) place));
        return reshaped(n, x, Shape.of(dims), new SqueezeAxes(), axes);
    }

    private static Value reshaped(NodeContext n, Value x, Shape shape, Deferred otherwise, List<Long> axes) {
        return shape.isConcrete()
                ? n.reshape(x, shape.sizes())
                : n.addTyped(otherwise, new TensorType(x.dtype(), shape), x, n.longs(axes));
    }

    /**
     * Reshape to sizes as ONNX writes them: one -1 is inferred, 0 copies the size at its index unless
     * {@code allowZero}.
     */
    static Value reshape(NodeContext n, Value x, List<Long> sizes, boolean allowZero) {
        if (sizes.stream().anyMatch(size -> size < -1)
                || sizes.stream().filter(size -> size == -1).count() > 1) {
            throw n.error("cannot reshape to " + sizes + ": at most one size may be -1, none less");
        }
        if (allowZero && sizes.contains(0L) && sizes.contains(-1L)) {
            throw n.error("cannot reshape to " + sizes + ": with allowzero a size of 0 makes -1 ambiguous");
        }
        List<Dim> dims = new ArrayList<>();
        for (int i = 0; i < sizes.size(); i++) {
            long size = sizes.get(i);
            if (size == 0 && !allowZero && x.shape().isRanked()) {
                if (i >= x.shape().rank()) {
                    throw n.error("cannot reshape " + x.shape() + " to " + sizes + ": nothing to copy at index " + i);
                }
                dims.add(x.shape().dim(i));
            } else {
                dims.add(size == -1 || (size == 0 && !allowZero) ? Dim.unknown() : Dim.of(size));
            }
        }
        // static once every size but an inferred one is a number
        boolean settled = true;
        List<Long> known = new ArrayList<>();
        for (int i = 0; i < sizes.size(); i++) {
            settled &= sizes.get(i) == -1 || dims.get(i).isFixed();
            known.add(dims.get(i).isFixed() ? dims.get(i).size() : -1L);
        }
        TensorType type = new TensorType(x.dtype(), Shape.of(dims));
        if (!settled) {
            return n.addTyped(new ReshapeTo(allowZero), type, x, n.longs(sizes));
        }
        // of an input without a rank the rules infer none, but these sizes have one
        return x.shape().isRanked()
                ? n.add(new Reshape(inferred(x.shape(), known)), x)
                : n.addTyped(new Reshape(known), type, x);
    }

    /** The sizes with a number for -1 where the input's shape tells it. */
    private static List<Long> inferred(Shape from, List<Long> sizes) {
        int at = sizes.indexOf(-1L);
        if (at < 0 || !from.isConcrete()) {
            return sizes;
        }
        List<Long> others = new ArrayList<>(sizes);
        others.remove(at);
        long product = Shape.ofSizes(others).elements();
        if (product == 0 || from.elements() % product != 0) {
            throw new ShapeException("cannot reshape " + from + " to " + sizes);
        }
        List<Long> all = new ArrayList<>(sizes);
        all.set(at, from.elements() / product);
        return all;
    }

    /**
     * The result of combining a value with what must broadcast to it: it has the value's shape. Told now where the
     * shapes tell; else by a reshape, which fails in the run for a result that has more elements.
     *
     * @param what the other value, for messages
     */
    static Value fitted(NodeContext n, Value result, Value x, String what) {
        Shape shape = x.shape();
        if (!shape.isRanked() || !result.shape().isRanked()) {
            return n.addTyped(new ReshapeTo(true), x.type(), result, sizes(n, x));
        }
        boolean fits = result.shape().rank() == shape.rank();
        for (int axis = 0; fits && axis < shape.rank(); axis++) {
            fits = result.shape().dim(axis).mayEqual(shape.dim(axis));
        }
        if (!fits) {
            throw n.error(what + " must broadcast to the input, " + x.type());
        }
        boolean same = result.shape().equals(shape) && !shape.dims().contains(Dim.unknown()); // two unknowns may differ
        return same ? result : n.addTyped(new ReshapeTo(true), x.type(), result, sizes(n, x));
    }

    /** The value under the shape of another of as many elements. */
    static Value like(NodeContext n, Value x, Value other) {
        return other.shape().isConcrete()
                ? n.reshape(x, other.shape().sizes())
                : n.addTyped(new ReshapeTo(true), new TensorType(x.dtype(), other.shape()), x, sizes(n, other));
    }

    /** Flattens to two dims at an axis: [product of those before it, product of the others]. */
    static Value matrix(NodeContext n, Value x, int axis) {
        int rank = x.shape().rank();
        if (rank == 2 && axis == 1) {
            return x;
        }
        if (x.shape().isConcrete()) {
            return n.reshape(x, x.shape().elements(0, axis), x.shape().elements(axis, rank));
        }
        Value sizes = n.add(new Concat(0), product(n, x, 0, axis), product(n, x, axis, rank));
        Shape shape = Shape.of(dim(x.shape(), 0, axis), dim(x.shape(), axis, rank));
        return n.addTyped(new ReshapeTo(true), new TensorType(x.dtype(), shape), x, sizes);
    }

    private static Dim dim(Shape shape, int from, int to) {
        Dim dim = Dim.of(1);
        for (int axis = from; axis < to; axis++) {
            dim = dim.times(shape.dim(axis));
        }
        return dim;
    }

    /** Swaps two axes of a value of known rank. */
    static Value swap(NodeContext n, Value x, int a, int b) {
        List<Integer> permutation = new ArrayList<>();
        for (int i = 0; i < x.shape().rank(); i++) {
            permutation.add(i == a ? b : i == b ? a : i);
        }
        return n.add(new Transpose(permutation), x);
    }

    /** A scalar of the type of a value. */
    static Value scalarLike(NodeContext n, Value x, double value) {
        return n.scalar(x.dtype(), value);
    }

    /** A vector of one 64-bit integer made of a scalar or a vector of one. */
    static Value vector(NodeContext n, Value x) {
        Value asLong = n.cast(x, DType.I64);
        return asLong.shape().isRanked() && asLong.shape().rank() == 1 ? asLong : n.reshape(asLong, 1);
    }
}
