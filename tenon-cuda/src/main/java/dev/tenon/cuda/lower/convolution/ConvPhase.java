package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.SizeMath;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Positions of a convolution's result whose windows have the same cells: all of them, or, of a transposed convolution,
 * those with one remainder by the strides. Along an axis the result's position {@code first + step u} sums the cells
 * {@code cell + skip j}, j from 0 to {@code cells}, at {@code origin + move u + turn j} of x.
 *
 * @param axes three, outermost first
 */
record ConvPhase(List<Axis> axes) {
    /** The spatial dims of a phase. */
    static final int DIMS = 3;

    private static final Axis UNIT = new Axis(1, 0, 1, 1, 0, 1, 0, 1, 0);

    ConvPhase {
        axes = List.copyOf(axes);
    }

    /**
     * One axis.
     *
     * @param count positions
     * @param first the first of them
     * @param step from one to the next
     * @param cells how many cells are summed
     * @param cell the first of them
     * @param skip from one to the next
     * @param origin the place in x of the first cell at the first position
     * @param move from one position to the next
     * @param turn from one cell to the next
     */
    record Axis(
            long count, long first, long step, long cells, long cell, long skip, long origin, long move, long turn) {
        static Axis of(ConvGeometry.Axis axis) {
            return new Axis(axis.output(), 0, 1, axis.kernel(), 0, 1, -axis.before(), axis.stride(), axis.dilation());
        }

        /** Of the positions with the remainder {@code first}; one cell outside of x if it has no positions. */
        static Axis transposed(ConvGeometry.Axis axis, long first) {
            long stride = axis.stride();
            long skip = stride / gcd(stride, axis.dilation());
            long count = Math.ceilDiv(axis.output() - first, stride);
            for (long cell = 0; cell < Math.min(skip, axis.kernel()); cell++) {
                long place = first + axis.before() - cell * axis.dilation();
                if (place % stride == 0) {
                    long cells = Math.ceilDiv(axis.kernel() - cell, skip);
                    long turn = -(skip * axis.dilation() / stride);
                    return new Axis(count, first, stride, cells, cell, skip, place / stride, 1, turn);
                }
            }
            return new Axis(count, first, stride, 1, 0, 1, -1, 0, 0);
        }

        private static long gcd(long a, long b) {
            return b == 0 ? a : gcd(b, a % b);
        }
    }

    /** How many phases a convolution has. */
    static long count(ConvGeometry geometry) {
        return geometry.transposed()
                ? SizeMath.estimate(geometry.axes().stream()
                        .mapToLong(axis -> Math.min(axis.stride(), axis.output()))
                        .toArray())
                : 1;
    }

    /** The phases of a convolution of at most {@link #DIMS} axes. */
    static List<ConvPhase> of(ConvGeometry geometry) {
        Axis[] axes = new Axis[DIMS];
        int units = DIMS - geometry.axes().size();
        Arrays.fill(axes, 0, units, UNIT);
        List<ConvPhase> phases = new ArrayList<>();
        addFrom(units, axes, geometry, phases);
        return phases;
    }

    /** Adds the phases that have those axes before one, in the order of the remainders. */
    private static void addFrom(int at, Axis[] axes, ConvGeometry geometry, List<ConvPhase> phases) {
        if (at == DIMS) {
            phases.add(new ConvPhase(List.of(axes)));
            return;
        }
        ConvGeometry.Axis axis =
                geometry.axes().get(at - (DIMS - geometry.axes().size()));
        long remainders = geometry.transposed() ? Math.min(axis.stride(), axis.output()) : 1;
        for (long first = 0; first < remainders; first++) {
            axes[at] = geometry.transposed() ? Axis.transposed(axis, first) : Axis.of(axis);
            addFrom(at + 1, axes, geometry, phases);
        }
    }

    /** Positions of an image. */
    long positions() {
        return SizeMath.product("conv", axes.get(0).count, axes.get(1).count, axes.get(2).count);
    }

    /** Cells of a window. */
    long cells() {
        return SizeMath.product("conv", axes.get(0).cells, axes.get(1).cells, axes.get(2).cells);
    }

    /** Bits that say for each axis and cell whether it falls on x. */
    long bits() {
        return axes.get(0).cells + axes.get(1).cells + axes.get(2).cells;
    }
}
