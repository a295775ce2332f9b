package dev.tenon.cpu.columns;

import dev.tenon.core.ir.DType;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.Layout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Of some columns the largest element and the sum of exponentials against it, in the workspace of a worker: f32 sums of
 * a block of rows, doubles between blocks. Rows of short floats come as f32, some at a time.
 *
 * <p>Immutable; the workspace holds what changes.
 */
public final class ExpTotals {
    /** Rows whose exponentials are summed in f32. */
    public static final int BLOCK = 1024;

    /** Below every number, and a number: a column of -infinity alone has the sum 0. */
    public static final float LEAST = -Float.MAX_VALUE;

    private static final int STAGED = 8;

    private final DType dtype;
    private final long staged;
    private final long work;
    private final long largest;
    private final long sums;
    private final long before;
    private final long totals;
    private final float[] least;

    /**
     * Takes room for columns.
     *
     * @param dtype of rows: f32, f16 or bf16
     * @param most columns
     */
    public ExpTotals(DType dtype, int most, Layout layout) {
        this.dtype = dtype;
        staged = layout.take(dtype == DType.F32 ? 0 : 4L * STAGED * most);
        work = layout.take(4L * most);
        largest = layout.take(4L * most);
        sums = layout.take(4L * most);
        before = layout.take(4L * most);
        totals = layout.take(8L * most);
        least = new float[most];
        Arrays.fill(least, LEAST);
    }

    /** Rows of {@code n} elements that begin {@code stride} apart, in elements. */
    public record Rows(MemorySegment memory, long first, long stride, int n) {}

    /** Takes rows, at least one, from no rows on. */
    public void take(Rows x, long count, MemorySegment workspace) {
        for (long row = 0; row < count; row += BLOCK) {
            begin(x.n, workspace);
            block(x, row, (int) Math.min(BLOCK, count - row), workspace);
            add(x.n, row == 0, workspace);
        }
    }

    /** The same for one block of rows, whose sums stay f32: {@link #largest} and {@link #sums}. */
    public void takeBlock(Rows x, int count, MemorySegment workspace) {
        begin(x.n, workspace);
        block(x, 0, count, workspace);
    }

    /** Fills {@link #largest} and {@link #sums} as of no rows. */
    public void begin(int n, MemorySegment workspace) {
        MemorySegment.copy(least, 0, workspace, Loops.F32, largest, n);
        workspace.asSlice(sums, 4L * n).fill((byte) 0);
    }

    private void block(Rows x, long from, int count, MemorySegment workspace) {
        long stride = x.stride;
        Place most = new Place(workspace, largest);
        Place sum = new Place(workspace, sums);
        Place row = new Place(workspace, work);
        if (dtype == DType.F32) {
            Matrix rows = new Matrix(x.memory, 4 * (x.first + from * stride), 4 * stride);
            ColumnLoops.expSums(count, x.n, rows, most, sum, row);
            return;
        }
        for (int at = 0; at < count; at += STAGED) {
            int taken = Math.min(STAGED, count - at);
            for (int i = 0; i < taken; i++) {
                long first = x.first + (from + at + i) * stride;
                FloatRows.segment(dtype, x.memory, first, x.n, workspace, staged + 4L * i * x.n);
            }
            ColumnLoops.expSums(taken, x.n, new Matrix(workspace, staged, 4L * x.n), most, sum, row);
        }
    }

    /** Adds a block's sums to those of the blocks before. */
    private void add(int n, boolean first, MemorySegment workspace) {
        for (int j = 0; j < n; j++) {
            float most = workspace.get(Loops.F32, largest + 4L * j);
            double sum = workspace.get(Loops.F32, sums + 4L * j);
            if (!first) {
                float known = workspace.get(Loops.F32, before + 4L * j);
                double total = workspace.get(Convert.F64, totals + 8L * j);
                sum = joined(known, total, most, sum);
                most = Math.max(most, known);
            }
            workspace.set(Loops.F32, before + 4L * j, most);
            workspace.set(Convert.F64, totals + 8L * j, sum);
        }
    }

    /** The sum of two sums against their largest elements, against the larger of these. */
    public static double joined(float a, double aSum, float b, double bSum) {
        if (a == b && a < Float.POSITIVE_INFINITY) {
            return aSum + bSum;
        }
        if (aSum == 0 && a < b) {
            return bSum; // the first of many, which cost an exponential else
        }
        return a < b ? aSum * Math.exp((double) a - b) + bSum : aSum + bSum * Math.exp((double) b - a);
    }

    /** After {@link #take}: the largest of a column. */
    public float most(int column, MemorySegment workspace) {
        return workspace.get(Loops.F32, before + 4L * column);
    }

    /** After {@link #take}: the sum of a column. */
    public double sum(int column, MemorySegment workspace) {
        return workspace.get(Convert.F64, totals + 8L * column);
    }

    /** Where the largest of each column lie, for who writes: f32. */
    public Place largest(MemorySegment workspace) {
        return new Place(workspace, largest);
    }

    /** Where sums lie, for who makes factors of them: f32. */
    public Place sums(MemorySegment workspace) {
        return new Place(workspace, sums);
    }
}
