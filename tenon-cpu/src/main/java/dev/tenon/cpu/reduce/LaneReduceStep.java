package dev.tenon.cpu.reduce;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.TileKind;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/** Reductions of any type over any axes, one result at a time; doubles for floats, exact longs for integers. */
final class LaneReduceStep implements CpuStep, RangeTask {
    private static final int BLOCK = 1024;

    private final ReduceFn fn;
    private final DType dtype;
    private final CpuReductionLowering.Walk kept;
    private final CpuReductionLowering.Walk reduced;
    private final int input;
    private final int output;
    private final long count;
    private final long results;
    private final boolean viaDoubles;

    LaneReduceStep(
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
        this.results = kept.elements();
        this.viaDoubles = dtype.isFloat() || fn == ReduceFn.L2 || fn == ReduceFn.LOG_SUM || fn == ReduceFn.LOG_SUM_EXP;
    }

    @Override
    public void run(CpuFrame frame) {
        // two results of a packed type may share a byte
        long grain = dtype.bits() < 8 ? results : Math.max(1, 8192 / Math.max(1, count));
        frame.parallel(this, results, grain);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment tile = frame.workspace(worker);
        for (long i = from; i < to; i++) {
            long base = kept.at(i);
            if (viaDoubles) {
                Elements.setDouble(dtype, y, i, reduceFloats(x, base, tile));
            } else {
                Elements.setLong(dtype, y, i, reduceIntegers(x, base, tile));
            }
        }
    }

    private double reduceFloats(MemorySegment x, long base, MemorySegment tile) {
        double max = 0;
        if (fn == ReduceFn.LOG_SUM_EXP) {
            max = fold(ReduceFn.MAX, x, base, tile, 0);
            if (Double.isInfinite(max)) {
                return max;
            }
        }
        return Fold.finish(fn, fold(fn, x, base, tile, max), count, max);
    }

    private double fold(ReduceFn with, MemorySegment x, long base, MemorySegment tile, double max) {
        double running = Fold.start(with);
        for (long at = 0; at < count; ) {
            int n = load(x, base, at, tile);
            for (int i = 0; i < n; i++) {
                running = Fold.join(with, running, number(tile, i), max);
            }
            at += n;
        }
        return running;
    }

    private double number(MemorySegment tile, int i) {
        return switch (TileKind.of(dtype)) {
            case FLOAT -> tile.get(Loops.F32, 4L * i);
            case DOUBLE -> tile.get(Convert.F64, 8L * i);
            case LONG -> Elements.toDouble(dtype, Elements.fromLong(dtype, tile.get(Convert.I64, 8L * i)));
            case BOOL -> tile.get(Loops.I8, i);
        };
    }

    /** Loads reduced elements from position {@code at} on, not past the end of an innermost run; how many. */
    private int load(MemorySegment x, long base, long at, MemorySegment tile) {
        long inner = reduced.inner();
        long stride = reduced.innerStride();
        int n = (int) Math.min(BLOCK, inner - at % inner);
        long first = base + reduced.at(at);
        if (stride == 1) {
            Convert.load(dtype, x, first, tile, 0, n);
        } else {
            int width = TileKind.of(dtype).bytes();
            for (int i = 0; i < n; i++) {
                Convert.load(dtype, x, first + i * stride, tile, (long) width * i, 1);
            }
        }
        return n;
    }

    private long reduceIntegers(MemorySegment x, long base, MemorySegment tile) {
        if (count == 0 && fn == ReduceFn.MEAN) {
            throw new DataException("reduce mean: of no " + dtype + " elements; expected one or more");
        }
        long running = start();
        for (long at = 0; at < count; ) {
            int n = load(x, base, at, tile);
            for (int i = 0; i < n; i++) {
                long value = dtype == DType.BOOL ? (tile.get(Loops.I8, i) != 0 ? 1 : 0) : tile.get(Convert.I64, 8L * i);
                running = at + i == 0 && !fn.hasIdentity() ? value : join(running, value);
            }
            at += n;
        }
        return fn == ReduceFn.MEAN ? BinaryFn.DIV.apply(dtype, running, count) : running;
    }

    private long start() {
        return switch (fn) {
            case PROD, ALL -> 1;
            case SUM, MEAN, MAX, MIN, L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE, ANY -> 0;
        };
    }

    private long join(long running, long value) {
        return switch (fn) {
            case SUM, MEAN -> running + value;
            case L1 -> running + (dtype.isUnsigned() ? value : Math.abs(value));
            case SUM_SQUARE -> running + value * value;
            case PROD -> running * value;
            case MAX -> BinaryFn.MAX.apply(dtype, running, value);
            case MIN -> BinaryFn.MIN.apply(dtype, running, value);
            case ANY -> running | value;
            case ALL -> running & value;
            case L2, LOG_SUM, LOG_SUM_EXP -> throw new IllegalStateException(fn + " goes by way of doubles");
        };
    }

    @Override
    public String tier() {
        return "lanes";
    }

    @Override
    public long workspaceBytes() {
        return 8L * BLOCK;
    }
}
