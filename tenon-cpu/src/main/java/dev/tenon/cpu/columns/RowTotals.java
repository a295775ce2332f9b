package dev.tenon.cpu.columns;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.machine.ColumnKernel;
import dev.tenon.cpu.machine.RowFoldKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.Layout;
import java.lang.foreign.MemorySegment;

/**
 * The largest element and the sum of exponentials of a row, and the softmax from them, where machine code runs: a row
 * is worked on as many short ones, whose columns are joined at the end.
 *
 * <p>Immutable; the workspace of a worker holds what changes.
 */
public final class RowTotals {
    /** Columns: vectors enough that their chains of operations overlap, few enough to join. */
    private static final int COLUMNS = 32;

    /** Columns when a result is written. */
    private static final int WIDE = 1024;

    /** The most elements whose exponentials are summed at once. */
    public static final int MOST = 1 << 16;

    private static final int LINE = 16;

    /** Rows that are worth reducing side by side, and elements of a row. */
    private static final int ROWS = 8;

    private static final int LEAST_ROW = 256;

    private final DType dtype;
    private final ExpTotals totals;
    private final long largest;
    private final long factors;
    private final long pairs;
    private final long found;
    private final long staged;
    private final long result;

    /**
     * Takes room in a workspace.
     *
     * @param dtype f32, f16 or bf16
     */
    public RowTotals(DType dtype, Layout layout) {
        this.dtype = dtype;
        totals = new ExpTotals(dtype, COLUMNS, layout);
        largest = layout.take(4L * WIDE);
        factors = layout.take(4L * WIDE);
        pairs = layout.take((long) RowFoldKernel.PAIR * Math.ceilDiv(MOST, LEAST_ROW));
        found = layout.take(16);
        boolean direct = dtype == DType.F32;
        staged = layout.take(direct ? 0 : 4L * WIDE);
        result = layout.take(direct ? 0 : 4L * WIDE);
    }

    /** Finds {@link #most} and {@link #sum} of so many elements, at least one and at most {@link #MOST}. */
    public void find(MemorySegment x, long first, int count, MemorySegment workspace) {
        begin(workspace);
        int done = folded(x, first, count, workspace);
        int rows = (count - done) / COLUMNS;
        if (rows > 0) {
            totals.takeBlock(new ExpTotals.Rows(x, first + done, COLUMNS, COLUMNS), rows, workspace);
            join(COLUMNS, workspace);
        }
        findRest(x, first, count, done, workspace);
    }

    /** Takes as many elements as make long rows; returns how many: none where one of the rows has no number. */
    private int folded(MemorySegment x, long first, int count, MemorySegment workspace) {
        int size = Math.min(RowFoldKernel.MOST, count / ROWS / COLUMNS * COLUMNS);
        if (dtype != DType.F32 || size < LEAST_ROW || !RowFolds.takes(ReduceFn.LOG_SUM_EXP, size, x)) {
            return 0;
        }
        int rows = count / size;
        RowFolds.run(
                ReduceFn.LOG_SUM_EXP, rows, size, new Matrix(x, 4 * first, 4L * size), new Place(workspace, pairs));
        for (int row = 0; row < rows; row++) {
            long pair = pairs + (long) RowFoldKernel.PAIR * row;
            add(RowFolds.largest(workspace, pair), RowFolds.value(ReduceFn.LOG_SUM_EXP, workspace, pair), workspace);
        }
        if (Double.isNaN(sum(workspace))) {
            begin(workspace);
            return 0;
        }
        return rows * size;
    }

    private void findRest(MemorySegment x, long first, int count, int done, MemorySegment workspace) {
        int rest = (count - done) % COLUMNS;
        if (rest > 0) {
            totals.takeBlock(new ExpTotals.Rows(x, first + count - rest, rest, rest), 1, workspace);
            join(rest, workspace);
        }
    }

    private void begin(MemorySegment workspace) {
        workspace.set(Convert.F64, found, ExpTotals.LEAST);
        workspace.set(Convert.F64, found + 8, 0);
    }

    private void join(int columns, MemorySegment workspace) {
        long most = totals.largest(workspace).offset();
        long sums = totals.sums(workspace).offset();
        for (int j = 0; j < columns; j++) {
            add(workspace.get(Loops.F32, most + 4L * j), workspace.get(Loops.F32, sums + 4L * j), workspace);
        }
    }

    /** Joins totals of other elements to those that were found. */
    public void add(float most, double sum, MemorySegment workspace) {
        float known = most(workspace);
        workspace.set(Convert.F64, found + 8, ExpTotals.joined(known, sum(workspace), most, sum));
        workspace.set(Convert.F64, found, Math.max(known, most));
    }

    /** What was found: the largest; {@link ExpTotals#LEAST} of -infinity alone; of no account where the sum is NaN. */
    public float most(MemorySegment workspace) {
        return (float) workspace.get(Convert.F64, found);
    }

    public double sum(MemorySegment workspace) {
        return workspace.get(Convert.F64, found + 8);
    }

    /** Lays out what {@link #write} needs: the largest, and the factor or logarithm. */
    public void spread(float most, float factor, MemorySegment workspace) {
        Loops loops = Loops.current();
        loops.fill(workspace, largest, most, WIDE);
        loops.fill(workspace, factors, factor, WIDE);
    }

    /**
     * Writes the softmax of so many elements, or its logarithm.
     *
     * @param stream whether the result is too large for the caches
     */
    public void write(
            MemorySegment x,
            MemorySegment y,
            long first,
            long count,
            boolean log,
            boolean stream,
            MemorySegment workspace) {
        if (dtype != DType.F32) {
            for (long at = 0; at < count; at += WIDE) {
                staged(x, y, first + at, (int) Math.min(WIDE, count - at), log, workspace);
            }
            return;
        }
        long begin = -(y.address() / 4 + first) & (LINE - 1);
        long head = Math.min(count, y.address() % 4 == 0 ? begin : 0);
        rows(x, y, first, 1, (int) head, log, stream, workspace);
        long at = head;
        while (count - at >= WIDE) {
            int rows = (int) Math.min((count - at) / WIDE, MOST);
            rows(x, y, first + at, rows, WIDE, log, stream, workspace);
            at += (long) rows * WIDE;
        }
        rows(x, y, first + at, 1, (int) (count - at), log, stream, workspace);
    }

    private void staged(MemorySegment x, MemorySegment y, long first, int n, boolean log, MemorySegment workspace) {
        Convert.load(dtype, x, first, workspace, staged, n);
        ColumnKernel.Form form = new ColumnKernel.Form(1, n, log, false);
        Matrix given = new Matrix(workspace, staged, 0);
        Matrix to = new Matrix(workspace, result, 0);
        ColumnLoops.write(form, given, new Place(workspace, largest), new Place(workspace, factors), to);
        Convert.store(dtype, workspace, result, y, first, n);
    }

    private void rows(
            MemorySegment x,
            MemorySegment y,
            long first,
            int rows,
            int n,
            boolean log,
            boolean stream,
            MemorySegment workspace) {
        ColumnKernel.Form form = new ColumnKernel.Form(rows, n, log, stream);
        Matrix given = new Matrix(x, 4 * first, 4L * n);
        Matrix to = new Matrix(y, 4 * first, 4L * n);
        ColumnLoops.write(form, given, new Place(workspace, largest), new Place(workspace, factors), to);
    }
}
