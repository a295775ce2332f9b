package dev.tenon.core.build;

import dev.tenon.core.error.Require;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.SliceBy;
import dev.tenon.core.ir.op.movement.Split;
import dev.tenon.core.ir.op.movement.SqueezeAxes;
import dev.tenon.core.ir.op.movement.Tile;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.movement.Trilu;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Adds what changes shapes, types and places of elements. Axes may be negative, they then count from the back.
 *
 * <p>Errors: {@link ShapeException} for axes out of range and sizes that do not fit, naming the operation.
 */
public interface ShapeOps extends OpBuilder {
    /** Adds a conversion; x itself where it has that type already. */
    default Value cast(Value x, DType to) {
        Words.option("cast", "to", to);
        return Cast.to(this, Words.operand("cast", "x", x), to);
    }

    /**
     * Adds the same elements under another shape.
     *
     * @param sizes of which one may be -1: what is left for it
     */
    default Value reshape(Value x, long... sizes) {
        Words.operand("reshape", "x", x);
        Words.option("reshape", "sizes", sizes);
        return add(Words.named("reshape", () -> Reshape.to(sizes)), x);
    }

    /** Adds x as a matrix: the axes before {@code axis} become rows, the others columns. */
    default Value flatten(Value x, int axis) {
        int rank = Words.rank("flatten", x);
        int from = axis == rank ? rank : Words.axis("flatten", x, axis);
        Dim rows = Dim.of(1);
        Dim columns = Dim.of(1);
        for (int i = 0; i < rank; i++) {
            rows = i < from ? rows.times(x.shape().dim(i)) : rows;
            columns = i < from ? columns : columns.times(x.shape().dim(i));
        }
        return add(Reshape.to(Words.sizes("flatten", x, List.of(rows, columns))), x);
    }

    /** Adds x without those axes, each of size 1; no axes: without all of size 1. */
    default Value squeeze(Value x, int... axes) {
        List<Integer> named = Words.axes("squeeze", x, axes);
        Shape shape = x.shape();
        for (int axis : named) {
            if (!shape.dim(axis).mayEqual(Dim.of(1))) {
                throw Words.shape("squeeze", x, "axis " + axis + " of " + shape + " is not of size 1; expected 1");
            }
        }
        List<Dim> kept = new ArrayList<>();
        List<Long> dropped = new ArrayList<>();
        for (int axis = 0; axis < shape.rank(); axis++) {
            if (axes.length == 0 ? shape.dim(axis).is(1) : named.contains(axis)) {
                dropped.add((long) axis);
            } else {
                kept.add(shape.dim(axis));
            }
        }
        return ShapeWords.isReshape(shape, kept)
                ? add(Reshape.to(Words.sizes("squeeze", x, kept)), x)
                : add(new SqueezeAxes(), x, ShapeWords.constant(this, dropped));
    }

    /** Adds x with axes of size 1 at those places of the result. */
    default Value unsqueeze(Value x, int... axes) {
        int rank = Words.rank("unsqueeze", x) + Words.option("unsqueeze", "axes", axes).length;
        List<Integer> added = Words.axes("unsqueeze", x, rank, axes);
        List<Dim> dims = new ArrayList<>(x.shape().dims());
        added.forEach(axis -> dims.add(axis, Dim.of(1)));
        return ShapeWords.isReshape(x.shape(), dims)
                ? add(Reshape.to(Words.sizes("unsqueeze", x, dims)), x)
                : add(
                        new UnsqueezeAxes(),
                        x,
                        ShapeWords.constant(
                                this, added.stream().map(Integer::longValue).toList()));
    }

    /**
     * Adds x with its axes in another order: the result's axis i is the input's axis {@code permutation[i]}; no
     * permutation reverses them.
     */
    default Value transpose(Value x, int... permutation) {
        Words.operand("transpose", "x", x);
        int[] from = Words.option("transpose", "permutation", permutation).length == 0
                ? IntStream.range(0, Words.rank("transpose", x))
                        .map(i -> x.shape().rank() - 1 - i)
                        .toArray()
                : IntStream.of(permutation)
                        .map(axis -> axis < 0 || x.shape().isRanked() ? Words.axis("transpose", x, axis) : axis)
                        .toArray();
        return add(Words.named("transpose", () -> Transpose.of(from)), x);
    }

    /** Adds x with two axes exchanged. */
    default Value swapAxes(Value x, int first, int second) {
        int a = Words.axis("swap_axes", x, first);
        int b = Words.axis("swap_axes", x, second);
        return add(
                Transpose.of(IntStream.range(0, x.shape().rank())
                        .map(i -> i == a ? b : i == b ? a : i)
                        .toArray()),
                x);
    }

    /** Adds x repeated along axes of size 1 until it has these sizes, as numpy broadcasts. */
    default Value expand(Value x, long... sizes) {
        Words.operand("expand", "x", x);
        Words.option("expand", "sizes", sizes);
        return add(Words.named("expand", () -> Expand.to(sizes)), x);
    }

    /**
     * Adds x as a whole repeated along each axis.
     *
     * @param repeats one for each axis
     */
    default Value tile(Value x, long... repeats) {
        Words.operand("tile", "x", x);
        List<Long> times = Words.longs("tile", "repeats", repeats);
        return add(Words.named("tile", () -> new Tile(times)), x);
    }

    /**
     * Adds x with zeros around it.
     *
     * @param before and {@code after}: how many for each axis; negative ones crop
     */
    default Value pad(Value x, long[] before, long[] after) {
        return pad(x, before, after, PadMode.CONSTANT);
    }

    /** Adds x with elements around it that the mode tells. */
    default Value pad(Value x, long[] before, long[] after, PadMode mode) {
        Words.operand("pad", "x", x);
        Words.option("pad", "mode", mode);
        List<Long> start = Words.longs("pad", "before", before);
        List<Long> end = Words.longs("pad", "after", after);
        return Words.named("pad", () -> Pad.cropped(this, mode, x, start, end, null));
    }

    /** Adds x with a number around it. */
    default Value pad(Value x, long[] before, long[] after, double fill) {
        Value constant = Words.scalar(this, "pad", Words.operand("pad", "x", x), fill);
        List<Long> start = Words.longs("pad", "before", before);
        List<Long> end = Words.longs("pad", "after", after);
        return Words.named("pad", () -> Pad.cropped(this, PadMode.CONSTANT, x, start, end, constant));
    }

    /**
     * Adds the elements of an axis from {@code from} to its end.
     *
     * @param from negative to count from the back
     */
    default Value slice(Value x, int axis, long from) {
        return slice(x, axis, from, Long.MAX_VALUE);
    }

    /**
     * Adds the elements [from, to) of an axis. Negative ends count from the back.
     *
     * @param to {@code Long.MAX_VALUE} for the axis's end
     * @throws ShapeException when an axis of known size does not have them
     */
    default Value slice(Value x, int axis, long from, long to) {
        int along = Words.axis("slice", x, axis);
        Dim dim = x.shape().dim(along);
        if (!dim.isFixed() || !x.shape().isConcrete()) {
            ShapeWords.requireRange(x, along, from, to);
            return add(
                    new SliceBy(true, false),
                    x,
                    ShapeWords.constant(this, List.of(from)),
                    ShapeWords.constant(this, List.of(to)),
                    ShapeWords.constant(this, List.of((long) along)));
        }
        long size = ShapeWords.requireRange(x, along, from, to);
        long start = from < 0 ? from + size : from;
        long end = to == Long.MAX_VALUE ? size : to < 0 ? to + size : to;
        return add(Slice.along(x.shape(), along, start, end), x);
    }

    /** Adds the parts one after another along an axis. */
    default Value concat(List<Value> parts, int axis) {
        List<Value> all = Words.named("concat", () -> List.copyOf(Require.elements(parts, "parts")));
        Value[] values = ShapeWords.notEmpty("concat", all);
        return add(new Concat(Words.axis("concat", values[0], axis)), values);
    }

    /**
     * Adds the parts, all of one shape, one after another along a new axis.
     *
     * @param axis its place in the result
     */
    default Value stack(List<Value> parts, int axis) {
        List<Value> all = Words.named("stack", () -> List.copyOf(Require.elements(parts, "parts")));
        Value first = ShapeWords.notEmpty("stack", all)[0];
        int along = Words.axis("stack", axis, first, Words.rank("stack", first) + 1);
        return concat(all.stream().map(part -> unsqueeze(part, along)).toList(), along);
    }

    /** Adds consecutive pieces of those sizes along an axis, which they use up. */
    default List<Value> split(Value x, int axis, long... sizes) {
        int along = Words.axis("split", x, axis);
        List<Long> pieces = Words.longs("split", "sizes", sizes);
        return addAll(Words.named("split", () -> new Split(along, pieces)), List.of(x));
    }

    /** Adds {@code parts} pieces of one size along an axis, whose size is a multiple of that. */
    default List<Value> chunk(Value x, int axis, int parts) {
        int along = Words.axis("chunk", x, axis);
        Dim dim = x.shape().dim(along);
        if (!dim.isFixed() || parts < 1 || dim.size() % parts != 0) {
            throw Words.shape(
                    "chunk",
                    x,
                    "axis " + along + " of " + x.shape() + " in " + parts
                            + " parts; expected a known size, a multiple of 1 or more parts");
        }
        return addAll(new Split(along, Collections.nCopies(parts, dim.size() / parts)), List.of(x));
    }

    /**
     * Adds x with zeros below a diagonal of its last two axes.
     *
     * @param diagonal 0 for the main one, positive above it
     */
    default Value triu(Value x, long diagonal) {
        return add(new Trilu(true, diagonal), Words.operand("triu", "x", x));
    }

    /**
     * Adds x with zeros above a diagonal of its last two axes.
     *
     * @param diagonal 0 for the main one, positive above it
     */
    default Value tril(Value x, long diagonal) {
        return add(new Trilu(false, diagonal), Words.operand("tril", "x", x));
    }
}
