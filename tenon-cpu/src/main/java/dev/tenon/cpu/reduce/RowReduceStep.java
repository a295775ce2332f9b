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
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * Reductions of f32 and short floats whose elements lie in runs: f32 sums of a block, doubles between blocks, always in
 * the same order.
 */
final class RowReduceStep implements CpuStep, RangeTask {
    private static final int BLOCK = FloatRows.BLOCK;
    private static final Unary ABS = Unary.of(UnaryFn.ABS);
    private static final long X_AT = 0;
    private static final long Y_AT = FloatRows.BLOCK_BYTES;
    private static final long MOMENTS_AT = 2 * FloatRows.BLOCK_BYTES;

    private final ReduceFn fn;
    private final DType dtype;
    private final CpuReductionLowering.Walk kept;
    private final CpuReductionLowering.Walk reduced;
    private final int input;
    private final int output;
    private final long count;

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
    }

    @Override
    public void run(CpuFrame frame) {
        frame.parallel(this, kept.elements(), Math.max(1, 16_384 / count));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment workspace = frame.workspace(worker);
        for (long i = from; i < to; i++) {
            long base = kept.at(i);
            double max = 0;
            double result;
            if (fn == ReduceFn.LOG_SUM_EXP) {
                max = fold(loops, ReduceFn.MAX, x, base, workspace, 0);
                result = Double.isInfinite(max)
                        ? max
                        : Fold.finish(fn, fold(loops, fn, x, base, workspace, max), count, max);
            } else {
                result = Fold.finish(fn, fold(loops, fn, x, base, workspace, 0), count, 0);
            }
            Elements.setDouble(dtype, y, i, result);
        }
    }

    private double fold(Loops loops, ReduceFn with, MemorySegment x, long base, MemorySegment workspace, double max) {
        double running = Fold.start(with);
        long inner = reduced.inner();
        for (long run = 0; run < count; run += inner) {
            long first = base + reduced.at(run);
            for (long at = 0; at < inner; at += BLOCK) {
                int n = (int) Math.min(BLOCK, inner - at);
                MemorySegment block = FloatRows.segment(dtype, x, first + at, n, workspace, X_AT);
                running = foldBlock(
                        loops, with, running, block, FloatRows.offset(dtype, first + at, X_AT), n, workspace, max);
            }
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
            case MIN -> {
                // halve the block onto its first half until one is left: the vector loop of min, again and again
                MemorySegment from = block;
                long at = offset;
                int left = n;
                while (left > 1) {
                    int half = left / 2;
                    int rest = left - half;
                    loops.binary(BinaryFn.MIN, from, at, from, at + 4L * rest, workspace, Y_AT, half);
                    if (rest > half) {
                        workspace.set(Loops.F32, Y_AT + 4L * half, from.get(Loops.F32, at + 4L * half));
                    }
                    from = workspace;
                    at = Y_AT;
                    left = rest;
                }
                yield Math.min(running, from.get(Loops.F32, at));
            }
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
        return MOMENTS_AT + 64;
    }
}
