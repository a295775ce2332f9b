package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
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

/** Reductions of f32 and short floats over axes that are not the last: many results at once, sums in double. */
final class ColumnReduceStep implements CpuStep, RangeTask {
    private static final int COLUMNS = 512;
    private static final Unary ABS = Unary.of(UnaryFn.ABS);
    private static final Unary EXP = Unary.of(UnaryFn.EXP);

    private final ReduceFn fn;
    private final DType dtype;
    private final CpuReductionLowering.Walk kept;
    private final CpuReductionLowering.Walk reduced;
    private final int input;
    private final int output;
    private final long count;
    private final long tilesPerRow;
    private final long xAt;
    private final long yAt;
    private final long bestAt;
    private final long sumAt;
    private final long workspaceBytes;

    ColumnReduceStep(
            ReduceFn fn,
            DType dtype,
            CpuReductionLowering.Walk kept,
            CpuReductionLowering.Walk reduced,
            int input,
            int output) {
        this.fn = fn;
        this.dtype = dtype;
        this.kept = kept;
        this.reduced = reduced;
        this.input = input;
        this.output = output;
        this.count = reduced.elements();
        this.tilesPerRow = Math.ceilDiv(kept.inner(), COLUMNS);
        Layout layout = new Layout();
        xAt = layout.take(4L * COLUMNS);
        yAt = layout.take(4L * COLUMNS);
        bestAt = layout.take(4L * COLUMNS);
        sumAt = layout.take(8L * COLUMNS);
        workspaceBytes = layout.bytes();
    }

    @Override
    public void run(CpuFrame frame) {
        long perTile = Math.min(COLUMNS, kept.inner()) * count;
        frame.parallel(this, kept.elements() / kept.inner() * tilesPerRow, Math.max(1, 16_384 / perTile));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment workspace = frame.workspace(worker);
        for (long tile = from; tile < to; tile++) {
            long column = tile % tilesPerRow * COLUMNS;
            long first = tile / tilesPerRow * kept.inner() + column;
            int n = (int) Math.min(COLUMNS, kept.inner() - column);
            reduce(loops, x, kept.at(first), n, workspace);
            for (int j = 0; j < n; j++) {
                Elements.setDouble(dtype, y, first + j, result(workspace, j));
            }
        }
    }

    private double result(MemorySegment workspace, int j) {
        double best = workspace.get(Loops.F32, bestAt + 4L * j);
        return fn == ReduceFn.MAX || fn == ReduceFn.MIN
                ? best
                : Fold.finish(fn, workspace.get(Convert.F64, sumAt + 8L * j), count, best);
    }

    private void reduce(Loops loops, MemorySegment x, long base, int n, MemorySegment workspace) {
        boolean extreme = fn == ReduceFn.MAX || fn == ReduceFn.MIN || fn == ReduceFn.LOG_SUM_EXP;
        if (extreme) {
            BinaryFn pick = fn == ReduceFn.MIN ? BinaryFn.MIN : BinaryFn.MAX;
            loops.fill(workspace, bestAt, (float) Fold.start(fn == ReduceFn.MIN ? ReduceFn.MIN : ReduceFn.MAX), n);
            for (long i = 0; i < count; i++) {
                long from = base + reduced.at(i);
                MemorySegment row = FloatRows.segment(dtype, x, from, n, workspace, xAt);
                long offset = FloatRows.offset(dtype, from, xAt);
                loops.binary(pick, workspace, bestAt, row, offset, workspace, bestAt, n);
            }
        }
        if (fn == ReduceFn.MAX || fn == ReduceFn.MIN) {
            return;
        }
        for (int j = 0; j < n; j++) {
            workspace.set(Convert.F64, sumAt + 8L * j, Fold.start(fn));
        }
        for (long i = 0; i < count; i++) {
            long from = base + reduced.at(i);
            MemorySegment row = FloatRows.segment(dtype, x, from, n, workspace, xAt);
            join(loops, row, FloatRows.offset(dtype, from, xAt), n, workspace);
        }
    }

    private void join(Loops loops, MemorySegment row, long offset, int n, MemorySegment workspace) {
        switch (fn) {
            case SUM, MEAN, LOG_SUM -> loops.accumulate(row, offset, workspace, sumAt, n);
            case L1 -> {
                loops.unary(ABS, row, offset, workspace, yAt, n);
                loops.accumulate(workspace, yAt, workspace, sumAt, n);
            }
            case LOG_SUM_EXP -> {
                loops.binary(BinaryFn.SUB, row, offset, workspace, bestAt, workspace, yAt, n);
                loops.unary(EXP, workspace, yAt, workspace, yAt, n);
                loops.accumulate(workspace, yAt, workspace, sumAt, n);
            }
            case L2, SUM_SQUARE, PROD, MAX, MIN, ANY, ALL -> {
                for (int j = 0; j < n; j++) {
                    long at = sumAt + 8L * j;
                    double running = workspace.get(Convert.F64, at);
                    workspace.set(Convert.F64, at, Fold.join(fn, running, row.get(Loops.F32, offset + 4L * j), 0));
                }
            }
        }
    }

    @Override
    public String tier() {
        return "columns";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
