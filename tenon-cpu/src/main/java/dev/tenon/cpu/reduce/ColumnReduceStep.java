package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Kernels;
import dev.tenon.cpu.step.Frame;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import dev.tenon.cpu.step.Step;
import java.lang.foreign.MemorySegment;

/** Reductions of f32 and short floats over axes that are not the last: many results at once, sums in double. */
final class ColumnReduceStep implements Step, RangeTask {
    private static final int COLUMNS = 512;
    private static final Unary ABS = Unary.of(UnaryFn.ABS);
    private static final Unary EXP = Unary.of(UnaryFn.EXP);

    private final ReduceFn fn;
    private final DType dtype;
    private final ReductionLowering.Walk kept;
    private final ReductionLowering.Walk reduced;
    private final int input;
    private final int output;
    private final long count;
    private final long tilesPerRow;
    private final long xAt;
    private final long yAt;
    private final long bestAt;
    private final long sumAt;
    private final long scratchBytes;

    ColumnReduceStep(
            ReduceFn fn,
            DType dtype,
            ReductionLowering.Walk kept,
            ReductionLowering.Walk reduced,
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
        scratchBytes = layout.bytes();
    }

    @Override
    public void run(Frame frame) {
        long perTile = Math.min(COLUMNS, kept.inner()) * count;
        frame.parallel(this, kept.elements() / kept.inner() * tilesPerRow, Math.max(1, 16_384 / perTile));
    }

    @Override
    public void run(Frame frame, long from, long to, int worker) {
        Kernels kernels = Kernels.current();
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment scratch = frame.scratch(worker);
        for (long tile = from; tile < to; tile++) {
            long column = tile % tilesPerRow * COLUMNS;
            long first = tile / tilesPerRow * kept.inner() + column;
            int n = (int) Math.min(COLUMNS, kept.inner() - column);
            reduce(kernels, x, kept.at(first), n, scratch);
            for (int j = 0; j < n; j++) {
                Elements.setDouble(dtype, y, first + j, result(scratch, j));
            }
        }
    }

    private double result(MemorySegment scratch, int j) {
        double best = scratch.get(Kernels.F32, bestAt + 4L * j);
        return fn == ReduceFn.MAX || fn == ReduceFn.MIN
                ? best
                : Fold.finish(fn, scratch.get(Convert.F64, sumAt + 8L * j), count, best);
    }

    private void reduce(Kernels kernels, MemorySegment x, long base, int n, MemorySegment scratch) {
        boolean extreme = fn == ReduceFn.MAX || fn == ReduceFn.MIN || fn == ReduceFn.LOG_SUM_EXP;
        if (extreme) {
            BinaryFn pick = fn == ReduceFn.MIN ? BinaryFn.MIN : BinaryFn.MAX;
            kernels.fill(scratch, bestAt, (float) Fold.start(fn == ReduceFn.MIN ? ReduceFn.MIN : ReduceFn.MAX), n);
            for (long i = 0; i < count; i++) {
                long from = base + reduced.at(i);
                MemorySegment row = FloatRows.segment(dtype, x, from, n, scratch, xAt);
                long offset = FloatRows.offset(dtype, from, xAt);
                kernels.binary(pick, scratch, bestAt, row, offset, scratch, bestAt, n);
            }
        }
        if (fn == ReduceFn.MAX || fn == ReduceFn.MIN) {
            return;
        }
        for (int j = 0; j < n; j++) {
            scratch.set(Convert.F64, sumAt + 8L * j, Fold.start(fn));
        }
        for (long i = 0; i < count; i++) {
            long from = base + reduced.at(i);
            MemorySegment row = FloatRows.segment(dtype, x, from, n, scratch, xAt);
            join(kernels, row, FloatRows.offset(dtype, from, xAt), n, scratch);
        }
    }

    private void join(Kernels kernels, MemorySegment row, long offset, int n, MemorySegment scratch) {
        switch (fn) {
            case SUM, MEAN, LOG_SUM -> kernels.accumulate(row, offset, scratch, sumAt, n);
            case L1 -> {
                kernels.unary(ABS, row, offset, scratch, yAt, n);
                kernels.accumulate(scratch, yAt, scratch, sumAt, n);
            }
            case LOG_SUM_EXP -> {
                kernels.binary(BinaryFn.SUB, row, offset, scratch, bestAt, scratch, yAt, n);
                kernels.unary(EXP, scratch, yAt, scratch, yAt, n);
                kernels.accumulate(scratch, yAt, scratch, sumAt, n);
            }
            case L2, SUM_SQUARE, PROD, MAX, MIN, ANY, ALL -> {
                for (int j = 0; j < n; j++) {
                    long at = sumAt + 8L * j;
                    double running = scratch.get(Convert.F64, at);
                    scratch.set(Convert.F64, at, Fold.join(fn, running, row.get(Kernels.F32, offset + 4L * j), 0));
                }
            }
        }
    }

    @Override
    public String tier() {
        return "columns";
    }

    @Override
    public long scratchBytes() {
        return scratchBytes;
    }
}
