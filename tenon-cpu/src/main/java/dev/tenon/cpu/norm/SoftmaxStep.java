package dev.tenon.cpu.norm;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.columns.ColumnLoops;
import dev.tenon.cpu.columns.ExpTotals;
import dev.tenon.cpu.columns.RowTotals;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.StridedCopy;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.machine.SoftmaxKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/** Softmax or its logarithm over rows of consecutive elements: the largest, the sum of exponentials, the quotients. */
final class SoftmaxStep implements CpuStep, RangeTask {
    private static final int BLOCK = FloatRows.BLOCK;
    private static final int MOST_ROWS = 1 << 20;

    private static final long STREAM_SIZE = 2048;

    private static final long X_AT = SoftmaxBlocks.X_AT;
    private static final long Y_AT = SoftmaxBlocks.Y_AT;

    private final DType dtype;
    private final long rows;
    private final long size;
    private final boolean log;
    private final boolean stream;
    private final SoftmaxBlocks blocks;
    private final int input;
    private final int output;
    private final RowTotals totals;
    private final long workspaceBytes;

    SoftmaxStep(DType dtype, long rows, long size, boolean log, int input, int output) {
        this.dtype = dtype;
        this.rows = rows;
        this.size = size;
        this.log = log;
        this.stream = SizeMath.product("softmax", rows, size, dtype.bytes()) >= StridedCopy.STREAM_BYTES;
        this.blocks = new SoftmaxBlocks(dtype);
        Layout layout = new Layout();
        layout.take(isTogether() ? Math.max(4 * size, SoftmaxBlocks.BYTES) : SoftmaxBlocks.BYTES);
        this.totals = new RowTotals(dtype, layout);
        this.workspaceBytes = layout.bytes();
        this.input = input;
        this.output = output;
    }

    @Override
    public void run(CpuFrame frame) {
        frame.parallel(this, rows, Math.max(1, 8192 / Math.max(1, size)));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment workspace = frame.workspace(worker);
        boolean machine = ColumnLoops.takes(x, y);
        if (isTogether()) {
            for (long row = from; row < to; row += MOST_ROWS) {
                together(frame, row, (int) Math.min(to - row, MOST_ROWS), worker);
            }
            return;
        }
        for (long row = from; row < to; row++) {
            if (dtype == DType.F64) {
                LaneNorms.softmax(x, y, row * size, size, log);
            } else if (machine && size > BLOCK) {
                longRow(x, y, row * size, workspace);
            } else {
                row(loops, x, y, row * size, workspace);
            }
        }
    }

    private boolean isTogether() {
        return dtype == DType.F32 && !log && size <= SoftmaxKernel.MOST;
    }

    /**
     * Rows that stay in a cache: read once, and written once. They are written past the caches where they would not
     * stay there anyway, unless a thread alone, which has all of the memory's time, is done with short ones sooner.
     */
    private void together(CpuFrame frame, long from, int count, int worker) {
        long bytes = 4 * size;
        boolean past = stream && (frame.threads() > 1 || size > STREAM_SIZE);
        Matrix result = new Matrix(frame.at(output), from * bytes, bytes);
        SoftmaxKernel.Form form = new SoftmaxKernel.Form(count, (int) size, 1, false, past);
        Matrix work = past ? new Matrix(frame.workspace(worker), X_AT, 0) : result;
        Loops.current().softmax(form, new Matrix(frame.at(input), from * bytes, bytes), Matrix.NONE, work, result);
    }

    /** A row that is read twice, the end of it first the second time. */
    private void longRow(MemorySegment x, MemorySegment y, long first, MemorySegment workspace) {
        float most = ExpTotals.LEAST;
        double sum = 0;
        for (long at = 0; at < size; at += RowTotals.MOST) {
            totals.find(x, first + at, (int) Math.min(size - at, RowTotals.MOST), workspace);
            float own = totals.most(workspace);
            sum = ExpTotals.joined(most, sum, own, totals.sum(workspace));
            most = Math.max(most, own);
        }
        totals.spread(most, (float) (log ? Math.log(sum) : 1 / sum), workspace);
        long at = size;
        while (at > 0) {
            long count = at % RowTotals.MOST == 0 ? RowTotals.MOST : at % RowTotals.MOST;
            at -= count;
            totals.write(x, y, first + at, count, log, stream, workspace);
        }
    }

    private void row(Loops loops, MemorySegment x, MemorySegment y, long first, MemorySegment workspace) {
        float max = Float.NEGATIVE_INFINITY;
        for (long at = 0; at < size; at += BLOCK) {
            int n = (int) Math.min(BLOCK, size - at);
            MemorySegment block = FloatRows.segment(dtype, x, first + at, n, workspace, X_AT);
            max = Math.max(max, loops.max(block, FloatRows.offset(dtype, first + at, X_AT), n));
        }
        // exponentials are kept where they fit: in the result, or in workspace for a short row
        boolean direct = dtype == DType.F32 && !log;
        boolean keep = direct || size <= BLOCK;
        double sum = 0;
        for (long at = 0; at < size; at += BLOCK) {
            int n = (int) Math.min(BLOCK, size - at);
            sum += direct
                    ? loops.expSum(x, 4 * (first + at), max, y, 4 * (first + at), n)
                    : blocks.exponentials(loops, x, first + at, n, max, workspace);
        }
        for (long at = 0; at < size; at += BLOCK) {
            int n = (int) Math.min(BLOCK, size - at);
            if (log) {
                blocks.logarithms(
                        loops, x, y, first + at, n, new NormFactors(max, 1, (float) -Math.log(sum)), stream, workspace);
            } else if (direct) {
                blocks.scaled(loops, new Place(y, 4 * (first + at)), y, first + at, n, (float) (1 / sum), stream);
            } else {
                if (!keep) {
                    blocks.exponentials(loops, x, first + at, n, max, workspace);
                }
                blocks.scaled(loops, new Place(workspace, Y_AT), y, first + at, n, (float) (1 / sum), stream);
            }
        }
    }

    @Override
    public String tier() {
        return dtype == DType.F64 ? "f64 loops" : "rows";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
