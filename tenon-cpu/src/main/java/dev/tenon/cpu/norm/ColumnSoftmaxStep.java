package dev.tenon.cpu.norm;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * Softmax or its logarithm over an axis that is not the last: many columns at once, so that memory is read in its
 * order.
 */
final class ColumnSoftmaxStep implements CpuStep, RangeTask {
    private static final int COLUMNS = 512;
    private static final Unary EXP = Unary.of(UnaryFn.EXP);

    private final DType dtype;
    private final long outer;
    private final long size;
    private final long inner;
    private final boolean log;
    private final int input;
    private final int output;
    private final long tiles;
    private final long xAt;
    private final long yAt;
    private final long maxAt;
    private final long sumAt;
    private final long factorAt;
    private final long workspaceBytes;

    ColumnSoftmaxStep(DType dtype, long outer, long size, long inner, boolean log, int input, int output) {
        this.dtype = dtype;
        this.outer = outer;
        this.size = size;
        this.inner = inner;
        this.log = log;
        this.input = input;
        this.output = output;
        tiles = Math.ceilDiv(inner, COLUMNS);
        Layout layout = new Layout();
        xAt = layout.take(4L * COLUMNS);
        yAt = layout.take(4L * COLUMNS);
        maxAt = layout.take(4L * COLUMNS);
        sumAt = layout.take(8L * COLUMNS);
        factorAt = layout.take(4L * COLUMNS);
        workspaceBytes = layout.bytes();
    }

    @Override
    public void run(CpuFrame frame) {
        frame.parallel(this, outer * tiles, Math.max(1, 8192 / Math.max(1, size * Math.min(inner, COLUMNS))));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        for (long unit = from; unit < to; unit++) {
            long column = unit % tiles * COLUMNS;
            long first = unit / tiles * size * inner + column;
            int n = (int) Math.min(COLUMNS, inner - column);
            if (dtype == DType.F64) {
                for (int j = 0; j < n; j++) {
                    LaneNorms.softmax(x, y, first + j, inner, size, log);
                }
            } else {
                columns(loops, x, y, first, n, frame.workspace(worker));
            }
        }
    }

    private void columns(Loops loops, MemorySegment x, MemorySegment y, long first, int n, MemorySegment workspace) {
        loops.fill(workspace, maxAt, Float.NEGATIVE_INFINITY, n);
        for (long i = 0; i < size; i++) {
            MemorySegment row = FloatRows.segment(dtype, x, first + i * inner, n, workspace, xAt);
            long offset = FloatRows.offset(dtype, first + i * inner, xAt);
            loops.binary(BinaryFn.MAX, workspace, maxAt, row, offset, workspace, maxAt, n);
        }
        workspace.asSlice(sumAt, 8L * n).fill((byte) 0);
        for (long i = 0; i < size; i++) {
            differences(loops, x, first + i * inner, n, workspace);
            loops.unary(EXP, workspace, yAt, workspace, yAt, n);
            loops.accumulate(workspace, yAt, workspace, sumAt, n);
        }
        for (int j = 0; j < n; j++) {
            double sum = workspace.get(Convert.F64, sumAt + 8L * j);
            workspace.set(Loops.F32, factorAt + 4L * j, (float) (log ? Math.log(sum) : 1 / sum));
        }
        for (long i = 0; i < size; i++) {
            long at = first + i * inner;
            differences(loops, x, at, n, workspace);
            if (!log) {
                loops.unary(EXP, workspace, yAt, workspace, yAt, n);
            }
            BinaryFn last = log ? BinaryFn.SUB : BinaryFn.MUL;
            if (dtype == DType.F32) {
                loops.binary(last, workspace, yAt, workspace, factorAt, y, 4 * at, n);
            } else {
                loops.binary(last, workspace, yAt, workspace, factorAt, workspace, yAt, n);
                Convert.store(dtype, workspace, yAt, y, at, n);
            }
        }
    }

    private void differences(Loops loops, MemorySegment x, long from, int n, MemorySegment workspace) {
        MemorySegment row = FloatRows.segment(dtype, x, from, n, workspace, xAt);
        long offset = FloatRows.offset(dtype, from, xAt);
        loops.binary(BinaryFn.SUB, row, offset, workspace, maxAt, workspace, yAt, n);
    }

    @Override
    public String tier() {
        return dtype == DType.F64 ? "f64 loops" : "columns";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
