package dev.tenon.core.ir.reference;

import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;

/**
 * Windows that slide over the spatial dims of [B,C,...], one list element an axis: the index arithmetic that
 * convolution and pooling share. The window at position p of an axis has its cells at
 * {@code p stride - before + i dilation}, i from 0 to the kernel's size.
 */
public record Windows(
        String op,
        List<Dim> kernel,
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        boolean ceil) {
    /** The cell lies in the padding. */
    public static final int PADDING = -1;
    /** The cell lies past the padding, which only windows that a rounded up count added reach. */
    static final int OUTSIDE = -2;
    /** The largest stride, dilation, pad or kernel: far past any use, and products of two of them fit 64 bits. */
    private static final long MOST = Integer.MAX_VALUE;

    /** Checks attributes that do not need a kernel's size. */
    public static void check(
            String op, List<Long> strides, List<Long> padsBefore, List<Long> padsAfter, List<Long> dilations) {
        int axes = strides.size();
        Expect.shape(
                axes > 0 && padsBefore.size() == axes && padsAfter.size() == axes && dilations.size() == axes,
                op,
                () -> "strides " + strides + ", pads before " + padsBefore + " and after " + padsAfter
                        + " and dilations " + dilations + " need one element for each spatial dim");
        Expect.shape(within(1, strides), op, () -> "strides are " + strides + "; expected 1 to " + MOST + " each");
        Expect.shape(
                within(1, dilations), op, () -> "dilations are " + dilations + "; expected 1 to " + MOST + " each");
        Expect.shape(
                within(0, padsBefore) && within(0, padsAfter),
                op,
                () -> "pads are " + padsBefore + " before and " + padsAfter + " after; expected 0 to " + MOST
                        + " each");
    }

    /** Checks the sizes of a window, of which {@code strides} has as many as there are spatial dims. */
    public static void checkKernel(String op, List<Long> kernel, List<Long> strides) {
        Expect.shape(
                kernel.size() == strides.size() && within(1, kernel),
                op,
                () -> "the kernel is " + kernel + "; expected a size of 1 to " + MOST + " for each of " + strides.size()
                        + " spatial dims");
    }

    public static boolean within(long least, List<Long> values) {
        for (long value : values) {
            if (value < least || value > MOST) {
                return false;
            }
        }
        return true;
    }

    public static boolean atLeast(long least, List<Long> values) {
        return values.stream().allMatch(value -> value >= least);
    }

    public static List<Dim> dims(List<Long> sizes) {
        return sizes.stream().map(Dim::of).toList();
    }

    int axes() {
        return strides.size();
    }

    /** From a window's first cell to past its last along an axis. */
    private long reach(int axis) {
        return SizeMath.sum(op, SizeMath.product(op, kernel.get(axis).size() - 1, dilations.get(axis)), 1);
    }

    /** How many positions the window has along each spatial dim of {@code x}. */
    public List<Dim> counts(Shape x) {
        List<Dim> counts = new ArrayList<>();
        for (int axis = 0; axis < axes(); axis++) {
            counts.add(count(x, axis));
        }
        return counts;
    }

    private Dim count(Shape x, int axis) {
        Dim input = x.dim(axis + 2);
        if (!kernel.get(axis).isFixed()) {
            return Dim.unknown();
        }
        long reach = reach(axis);
        long padding = padsBefore.get(axis) + padsAfter.get(axis);
        long stride = strides.get(axis);
        if (!input.isFixed()) {
            return stride == 1 && padding == reach - 1 ? input : Dim.unknown();
        }
        long room = SizeMath.sum(op, input.size(), padding, -reach);
        long count = (ceil ? Math.ceilDiv(room, stride) : Math.floorDiv(room, stride)) + 1;
        // the last window has to start inside the input or the padding before it
        if (ceil && SizeMath.product(op, count - 1, stride) >= SizeMath.sum(op, input.size(), padsBefore.get(axis))) {
            count--;
        }
        Expect.shape(
                count > 0 || input.is(0),
                op,
                () -> "a window of " + reach + " does not fit dim " + (axis + 2) + " of " + x + " padded by "
                        + padding);
        return Dim.of(Math.max(count, 0));
    }

    /**
     * Refuses a window without a cell in the input, for which a maximum or an average has no value.
     *
     * @throws dev.tenon.core.error.ShapeException naming the dim, the kernel and the pads
     */
    public void requireInput(Shape x) {
        List<Dim> counts = counts(x);
        for (int axis = 0; axis < axes(); axis++) {
            Dim input = x.dim(axis + 2);
            if (input.isFixed()
                    && kernel.get(axis).isFixed()
                    && counts.get(axis).size() > 0) {
                int dim = axis + 2;
                long size = kernel.get(axis).size();
                long before = padsBefore.get(axis);
                long after = padsAfter.get(axis);
                Expect.shape(
                        everyWindowHasInput(axis, input.size(), counts.get(axis).size()),
                        op,
                        () -> "a window of " + size + " over dim " + dim + " of " + x
                                + " lies in the padding alone (pads " + before + " before, " + after
                                + " after); expected pads smaller than the window");
            }
        }
    }

    private boolean everyWindowHasInput(int axis, long input, long count) {
        long stride = strides.get(axis);
        long dilation = dilations.get(axis);
        long before = padsBefore.get(axis);
        if (SizeMath.product(op, count - 1, stride) - before >= input) {
            return false; // the last window begins past the input
        }
        // a window that begins in the input has its first cell there; only those that begin before it can miss it,
        // and the first one tells of all where cells lie no further apart than the input is long, or where every window
        // meets the input at the same cell
        long looked = dilation <= input || stride % dilation == 0 ? 1 : count;
        for (long start = -before, position = 0; start < 0 && position < looked; start += stride, position++) {
            long first = Math.ceilDiv(-start, dilation);
            if (first >= kernel.get(axis).size() || start + first * dilation >= input) {
                return false;
            }
        }
        return true;
    }

    /** How many dims x and the result of a window over it have each. */
    public void checkRank(String operand, Shape x) {
        Rules.rank(op, operand, x, axes() + 2);
    }

    /** The number of cells of a window. */
    public int cells() {
        return SizeMath.toInt(op, Shape.of(kernel).elements());
    }

    /**
     * Where the cells of one window lie, in row-major order of the kernel: a flat index into the spatial dims of the
     * input, {@link #PADDING}, or {@link #OUTSIDE}.
     *
     * @param position flat index into {@code counts}
     * @param counts how many positions there are along each spatial dim
     * @param input sizes of the spatial dims
     */
    public int[] locate(int position, long[] counts, long[] input) {
        long[] origin = new long[axes()];
        long rest = position;
        for (int axis = axes() - 1; axis >= 0; axis--) {
            origin[axis] = rest % counts[axis] * strides.get(axis) - padsBefore.get(axis);
            rest /= counts[axis];
        }
        int[] cells = new int[cells()];
        for (int cell = 0; cell < cells.length; cell++) {
            cells[cell] = locateCell(cell, origin, input);
        }
        return cells;
    }

    private int locateCell(int cell, long[] origin, long[] input) {
        long rest = cell;
        long flat = 0;
        long step = 1;
        boolean padding = false;
        boolean outside = false;
        for (int axis = axes() - 1; axis >= 0; axis--) {
            long size = kernel.get(axis).size();
            long at = origin[axis] + rest % size * dilations.get(axis);
            rest /= size;
            padding |= at < 0 || at >= input[axis];
            outside |= at >= input[axis] + padsAfter.get(axis);
            flat += at * step;
            step *= input[axis];
        }
        return outside ? OUTSIDE : padding ? PADDING : (int) flat;
    }

    /** The sizes of the dims of a concrete [B,C,...] past the first two. */
    public static long[] spatial(Shape shape) {
        return shape.range(2, shape.rank()).sizes();
    }

    /** The product of the sizes of the dims past the first two. */
    public static int area(Shape shape) {
        return SizeMath.toInt("spatial dims of " + shape, shape.elements(2, shape.rank()));
    }
}
