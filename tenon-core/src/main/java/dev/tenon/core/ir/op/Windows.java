package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Windows that slide over the spatial dims of [B,C,...], one list element an axis: the index arithmetic that convolution and pooling share. The window at position p of an axis has its cells at {@code p stride - before + i dilation}, i
 * from 0 to the kernel's size.
 */
record Windows(
        String op,
        List<Dim> kernel,
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        boolean ceil) {
    /** The cell lies in the padding. */
    static final int PADDING = -1;
    /** The cell lies past the padding, which only windows that a rounded up count added reach. */
    static final int OUTSIDE = -2;

    /** Checks attributes that do not need a kernel's size. */
    static void check(
            String op, List<Long> strides, List<Long> padsBefore, List<Long> padsAfter, List<Long> dilations) {
        int axes = strides.size();
        Expect.shape(
                axes > 0 && padsBefore.size() == axes && padsAfter.size() == axes && dilations.size() == axes,
                op,
                () -> "strides " + strides + ", pads before " + padsBefore + " and after " + padsAfter
                        + " and dilations " + dilations + " need one element for each spatial dim");
        Expect.shape(atLeast(1, strides), op, () -> "strides need to be 1 or more: " + strides);
        Expect.shape(atLeast(1, dilations), op, () -> "dilations need to be 1 or more: " + dilations);
        Expect.shape(
                atLeast(0, padsBefore) && atLeast(0, padsAfter),
                op,
                () -> "pads need to be 0 or more: before " + padsBefore + ", after " + padsAfter);
    }

    static boolean atLeast(long least, List<Long> values) {
        return values.stream().allMatch(value -> value >= least);
    }

    static List<Dim> dims(List<Long> sizes) {
        return sizes.stream().map(Dim::of).toList();
    }

    int axes() {
        return strides.size();
    }

    /** From a window's first cell to past its last along an axis. */
    private long reach(int axis) {
        return (kernel.get(axis).size() - 1) * dilations.get(axis) + 1;
    }

    /** How many positions the window has along each spatial dim of {@code x}. */
    List<Dim> counts(Shape x) {
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
        long room = input.size() + padding - reach;
        long count = (ceil ? Math.ceilDiv(room, stride) : Math.floorDiv(room, stride)) + 1;
        // the last window has to start inside the input or the padding before it
        if (ceil && (count - 1) * stride >= input.size() + padsBefore.get(axis)) {
            count--;
        }
        Expect.shape(
                count > 0 || input.is(0),
                op,
                () -> "a window of " + reach + " does not fit dim " + (axis + 2) + " of " + x + " padded by "
                        + padding);
        return Dim.of(Math.max(count, 0));
    }

    /** How many dims x and the result of a window over it have each. */
    void checkRank(String operand, Shape x) {
        Rules.rank(op, operand, x, axes() + 2);
    }

    /** The number of cells of a window. */
    int cells() {
        return Math.toIntExact(Shape.of(kernel).elements());
    }

    /**
     * Where the cells of one window lie, in row-major order of the kernel: a flat index into the spatial dims of the input, {@link #PADDING}, or {@link #OUTSIDE}.
     *
     * @param position flat index into {@code counts}
     * @param counts how many positions there are along each spatial dim
     * @param input sizes of the spatial dims
     */
    int[] locate(int position, long[] counts, long[] input) {
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
    static long[] spatial(Shape shape) {
        return shape.range(2, shape.rank()).sizes();
    }

    /** The product of the sizes of the dims past the first two. */
    static int area(Shape shape) {
        return Math.toIntExact(shape.elements(2, shape.rank()));
    }
}
