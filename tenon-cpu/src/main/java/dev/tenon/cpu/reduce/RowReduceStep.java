package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.columns.ColumnLoops;
import dev.tenon.cpu.columns.ExpTotals;
import dev.tenon.cpu.columns.RowFolds;
import dev.tenon.cpu.columns.RowTotals;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.machine.RowFoldKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * Reductions of f32 and short floats whose elements lie in runs: f32 sums of a block, doubles between blocks, always
 * in the same order. All workers share a long row: chunks of it, which do not depend on the number of workers, give
 * what is joined in their order.
 */
final class RowReduceStep implements CpuStep, RangeTask {
    private static final int BLOCK = FloatRows.BLOCK;
    private static final Unary ABS = Unary.of(UnaryFn.ABS);
    private static final long X_AT = 0;
    private static final long Y_AT = FloatRows.BLOCK_BYTES;
    private static final long MOMENTS_AT = 2 * FloatRows.BLOCK_BYTES;
    /** The largest element of a shared row; then what each of its chunks gave. In the workspace of worker 0. */
    private static final long MAX_AT = MOMENTS_AT + 64;

    private static final long FOUND_AT = MAX_AT + 8;

    /** Elements of rows that are reduced in one call, and the most rows. */
    private static final long TOGETHER = 1 << 17;

    private static final int MANY = 4096;

    private static final long CHUNK = 16L * BLOCK;
    /** Rows from which on workers share each, where they are few, and where they are not. */
    private static final long LONG = 4 * CHUNK;

    private static final long FEW_ROWS = 8;
    private static final long VERY_LONG = 1 << 19;

    private final ReduceFn fn;
    private final DType dtype;
    private final CpuReductionLowering.Walk kept;
    private final CpuReductionLowering.Walk reduced;
    private final int input;
    private final int output;
    private final long count;
    private final boolean shared;
    private final boolean together;
    private final long pairsAt;
    private final RowTotals totals;
    private final long workspaceBytes;
    private final RangeTask part = this::part;
    private final RangeTask exponentials = this::exponentials;

    RowReduceStep(
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
        this.together = dtype == DType.F32 && reduced.inner() == count && kept.isSingle();
        this.shared =
                reduced.inner() == count && (count >= VERY_LONG || (count >= LONG && kept.elements() <= FEW_ROWS));
        Layout layout = new Layout();
        layout.take(shared ? FOUND_AT + 16 * chunks() : MAX_AT);
        pairsAt = layout.take((long) RowFoldKernel.PAIR * MANY);
        totals = new RowTotals(dtype, layout);
        workspaceBytes = layout.bytes();
    }

    @Override
    public void run(CpuFrame frame) {
        if (shared) {
            for (long i = 0; i < kept.elements(); i++) {
                frame.group()[0] = kept.at(i);
                if (fn == ReduceFn.LOG_SUM_EXP && shareExponentials(frame, i)) {
                    continue;
                }
                double max = fn == ReduceFn.LOG_SUM_EXP ? share(frame, ReduceFn.MAX, 0) : 0;
                double result = Double.isInfinite(max) ? max : Fold.finish(fn, share(frame, fn, max), count, max);
                Elements.setDouble(dtype, frame.at(output), i, result);
            }
            return;
        }
        frame.parallel(this, kept.elements(), Math.max(1, 16_384 / count));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment workspace = frame.workspace(worker);
        if (together && RowFolds.takes(fn, count, x)) {
            int most = Math.clamp(TOGETHER / count, 1, MANY);
            for (long i = from; i < to; i += most) {
                many(frame, i, (int) Math.min(most, to - i), worker);
            }
            return;
        }
        for (long i = from; i < to; i++) {
            Elements.setDouble(dtype, y, i, row(loops, x, kept.at(i), workspace));
        }
    }

    private double row(Loops loops, MemorySegment x, long base, MemorySegment workspace) {
        if (fn != ReduceFn.LOG_SUM_EXP) {
            return Fold.finish(fn, fold(loops, fn, x, base, workspace, 0), count, 0);
        }
        double found = reduced.inner() == count && ColumnLoops.takes(x, workspace)
                ? logSumExp(x, base, workspace)
                : Double.NaN;
        if (!Double.isNaN(found)) {
            return found;
        }
        double max = fold(loops, ReduceFn.MAX, x, base, workspace, 0);
        return Double.isInfinite(max) ? max : Fold.finish(fn, fold(loops, fn, x, base, workspace, max), count, max);
    }

    /** Of a run; NaN where loops in Java have the answer. */
    private double logSumExp(MemorySegment x, long first, MemorySegment workspace) {
        float most = ExpTotals.LEAST;
        double sum = 0;
        for (long at = 0; at < count; at += RowTotals.MOST) {
            totals.find(x, first + at, (int) Math.min(count - at, RowTotals.MOST), workspace);
            float own = totals.most(workspace);
            sum = ExpTotals.joined(most, sum, own, totals.sum(workspace));
            most = Math.max(most, own);
        }
        return sum > 0 ? most + Math.log(sum) : Double.NaN;
    }

    /** Rows that machine code reduces in one call; those without a finite sum again, one by one. */
    private void many(CpuFrame frame, long from, int rows, int worker) {
        MemorySegment x = frame.at(input);
        MemorySegment workspace = frame.workspace(worker);
        Matrix all = new Matrix(x, 4 * kept.at(from), 4 * kept.innerStride());
        RowFolds.run(fn, rows, (int) count, all, new Place(workspace, pairsAt));
        int done = fn == ReduceFn.SUM || fn == ReduceFn.MEAN ? writeSums(frame, from, rows, workspace) : 0;
        for (int row = done; row < rows; row++) {
            long pair = pairsAt + (long) RowFoldKernel.PAIR * row;
            double value = RowFolds.value(fn, workspace, pair);
            double result = value;
            if (fn != ReduceFn.MAX && fn != ReduceFn.MIN) {
                result = Double.isFinite(value)
                        ? Fold.finish(fn, value, count, RowFolds.largest(workspace, pair))
                        : row(Loops.current(), x, kept.at(from + row), workspace);
            }
            Elements.setDouble(dtype, frame.at(output), from + row, result);
        }
    }

    /** Sums or means up to the first that is not finite; returns how many. */
    private int writeSums(CpuFrame frame, long from, int rows, MemorySegment workspace) {
        MemorySegment y = frame.at(output);
        double divisor = fn == ReduceFn.MEAN ? count : 1;
        for (int row = 0; row < rows; row++) {
            float sum = workspace.get(Loops.F32, pairsAt + (long) RowFoldKernel.PAIR * row);
            if (!Float.isFinite(sum)) {
                return row;
            }
            y.set(Loops.F32, 4 * (from + row), (float) (sum / divisor));
        }
        return rows;
    }

    /** The result of a shared row where its sum of exponentials is a number; returns whether it is. */
    private boolean shareExponentials(CpuFrame frame, long row) {
        if (!ColumnLoops.takes(frame.at(input), frame.workspace(0))) {
            return false;
        }
        frame.parallel(exponentials, chunks(), 1);
        MemorySegment found = frame.workspace(0);
        float most = ExpTotals.LEAST;
        double sum = 0;
        for (long chunk = 0; chunk < chunks(); chunk++) {
            float own = (float) found.get(Convert.F64, FOUND_AT + 16 * chunk);
            sum = ExpTotals.joined(most, sum, own, found.get(Convert.F64, FOUND_AT + 16 * chunk + 8));
            most = Math.max(most, own);
        }
        if (Double.isNaN(sum)) {
            return false;
        }
        Elements.setDouble(dtype, frame.at(output), row, most + Math.log(sum));
        return true;
    }

    private void exponentials(CpuFrame frame, long from, long to, int worker) {
        MemorySegment found = frame.workspace(0);
        MemorySegment workspace = frame.workspace(worker);
        for (long chunk = from; chunk < to; chunk++) {
            int n = (int) Math.min(CHUNK, count - chunk * CHUNK);
            totals.find(frame.at(input), frame.group()[0] + chunk * CHUNK, n, workspace);
            found.set(Convert.F64, FOUND_AT + 16 * chunk, totals.most(workspace));
            found.set(Convert.F64, FOUND_AT + 16 * chunk + 8, totals.sum(workspace));
        }
    }

    private long chunks() {
        return Math.ceilDiv(count, CHUNK);
    }

    private double share(CpuFrame frame, ReduceFn with, double max) {
        MemorySegment found = frame.workspace(0);
        frame.group()[1] = with == ReduceFn.MAX ? 1 : 0;
        found.set(Convert.F64, MAX_AT, max);
        frame.parallel(part, chunks(), 1);
        double running = Fold.start(with);
        for (long chunk = 0; chunk < chunks(); chunk++) {
            running = Fold.joinRunning(with, running, found.get(Convert.F64, FOUND_AT + 8 * chunk));
        }
        return running;
    }

    /** What chunks of a shared row give. */
    private void part(CpuFrame frame, long from, long to, int worker) {
        MemorySegment found = frame.workspace(0);
        ReduceFn with = frame.group()[1] == 1 ? ReduceFn.MAX : fn;
        double max = found.get(Convert.F64, MAX_AT);
        for (long chunk = from; chunk < to; chunk++) {
            long begin = chunk * CHUNK;
            long n = Math.min(CHUNK, count - begin);
            double value = run(
                    Loops.current(),
                    with,
                    Fold.start(with),
                    frame.at(input),
                    frame.group()[0] + begin,
                    n,
                    frame.workspace(worker),
                    max);
            found.set(Convert.F64, FOUND_AT + 8 * chunk, value);
        }
    }

    private double fold(Loops loops, ReduceFn with, MemorySegment x, long base, MemorySegment workspace, double max) {
        double running = Fold.start(with);
        long inner = reduced.inner();
        for (long run = 0; run < count; run += inner) {
            running = run(loops, with, running, x, base + reduced.at(run), inner, workspace, max);
        }
        return running;
    }

    /** Elements one behind the other. */
    private double run(
            Loops loops,
            ReduceFn with,
            double start,
            MemorySegment x,
            long first,
            long size,
            MemorySegment workspace,
            double max) {
        double running = start;
        long at = 0;
        int rows = (int) Math.min(size / BLOCK, MANY);
        if (dtype == DType.F32 && rows > 1 && with != ReduceFn.LOG_SUM_EXP && RowFolds.takes(with, BLOCK, x)) {
            RowFolds.run(with, rows, BLOCK, new Matrix(x, 4 * first, 4L * BLOCK), new Place(workspace, pairsAt));
            double joined = Fold.start(with);
            for (int row = 0; row < rows; row++) {
                double value = RowFolds.value(with, workspace, pairsAt + (long) RowFoldKernel.PAIR * row);
                joined = Fold.joinRunning(with, joined, value);
            }
            if (Double.isFinite(joined) || with == ReduceFn.MAX || with == ReduceFn.MIN) {
                running = Fold.joinRunning(with, running, joined);
                at = (long) rows * BLOCK;
            }
        }
        for (; at < size; at += BLOCK) {
            int n = (int) Math.min(BLOCK, size - at);
            MemorySegment block = FloatRows.segment(dtype, x, first + at, n, workspace, X_AT);
            long offset = FloatRows.offset(dtype, first + at, X_AT);
            running = foldBlock(loops, with, running, block, offset, n, workspace, max);
        }
        return running;
    }

    private static double foldBlock(
            Loops loops,
            ReduceFn with,
            double running,
            MemorySegment block,
            long offset,
            int n,
            MemorySegment workspace,
            double max) {
        return switch (with) {
            case SUM, MEAN, LOG_SUM, ANY, ALL -> running + loops.sum(block, offset, n);
            case L1 -> {
                loops.unary(ABS, block, offset, workspace, Y_AT, n);
                yield running + loops.sum(workspace, Y_AT, n);
            }
            case L2, SUM_SQUARE -> {
                loops.moments(block, offset, n, 0, workspace, MOMENTS_AT);
                yield running + workspace.get(Convert.F64, MOMENTS_AT + 8);
            }
            case LOG_SUM_EXP -> running + loops.expSum(block, offset, (float) max, workspace, Y_AT, n);
            case MAX -> Math.max(running, loops.max(block, offset, n));
            case MIN -> Math.min(running, loops.min(block, offset, n));
            case PROD -> {
                double product = running;
                for (int i = 0; i < n; i++) {
                    product *= block.get(Loops.F32, offset + 4L * i);
                }
                yield product;
            }
        };
    }

    @Override
    public String tier() {
        return "rows";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
