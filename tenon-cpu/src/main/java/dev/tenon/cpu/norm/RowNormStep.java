package dev.tenon.cpu.norm;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.TileKind;
import dev.tenon.cpu.machine.Matrix;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.machine.NormKernel;
import dev.tenon.cpu.machine.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * LayerNorm, RmsNorm and InstanceNorm over rows of consecutive elements.
 *
 * <p>The moments are those of the differences from the row's first element, in f32 by blocks and in double between
 * blocks. Where that element is far from the mean (more than two deviations) their difference would cancel, and a
 * second pass takes them about the mean.
 */
final class RowNormStep implements CpuStep, RangeTask {
    private static final int BLOCK = FloatRows.BLOCK;
    private static final int MOST_ROWS = 1 << 20;

    private final DType dtype;
    private final Norm norm;
    private final int input;
    private final int output;
    /** Null for none. */
    private final @Nullable Parameter scale;

    private final @Nullable Parameter bias;
    private final long xAt = 0;
    private final long yAt;
    private final long momentsAt;
    private final long scaleAt;
    private final long biasAt;
    private final long workspaceBytes;

    /**
     * What is normalised, and how.
     *
     * @param size elements of a row
     * @param rms whether the mean is taken as 0
     * @param perRow whether row r takes element r modulo the number of elements of scale and bias (the channels of
     *     InstanceNorm)
     */
    record Norm(long rows, long size, double epsilon, boolean rms, boolean perRow) {}

    /**
     * A scale or bias.
     *
     * @param broadcast how it is read along a row
     */
    record Parameter(int slot, Broadcast broadcast) {
        boolean isWhole() {
            return broadcast.isWhole(0);
        }
    }

    RowNormStep(DType dtype, Norm norm, int input, @Nullable Parameter scale, @Nullable Parameter bias, int output) {
        this.dtype = dtype;
        this.norm = norm;
        this.input = input;
        this.scale = scale;
        this.bias = bias;
        this.output = output;
        Layout layout = new Layout();
        layout.take(FloatRows.BLOCK_BYTES);
        yAt = layout.take(FloatRows.BLOCK_BYTES);
        momentsAt = layout.take(16);
        scaleAt = layout.take(isCopied(scale) ? 8 * norm.size : 0);
        biasAt = layout.take(isCopied(bias) ? 8 * norm.size : 0);
        workspaceBytes = layout.bytes();
    }

    private boolean isCopied(@Nullable Parameter parameter) {
        return parameter != null && !norm.perRow && !(parameter.isWhole() && TileKind.isDirect(dtype));
    }

    @Override
    public void run(CpuFrame frame) {
        if (norm.size > 0) {
            frame.parallel(this, norm.rows, Math.max(1, 8192 / norm.size));
        }
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment workspace = frame.workspace(worker);
        Place scales = place(frame, scale, workspace, scaleAt);
        Place biases = place(frame, bias, workspace, biasAt);
        boolean together = dtype == DType.F32 && !norm.perRow && norm.size <= BLOCK;
        for (long row = from; row < to; row++) {
            if (together) {
                row += rows(loops, x, y, row, to, scales, biases);
                if (row == to) {
                    return;
                }
            }
            long first = row * norm.size;
            if (dtype == DType.F64) {
                LaneNorms.standardise(x, y, first, norm.size, norm.epsilon, norm.rms);
                scaleDoubles(y, row, scales, biases);
                continue;
            }
            Moments moments = moments(loops, x, first, workspace);
            if (norm.perRow) {
                long channels = scales.memory().byteSize() / dtype.bytes();
                Convert.load(dtype, scales.memory(), row % channels, workspace, momentsAt, 1);
                Convert.load(dtype, biases.memory(), row % channels, workspace, momentsAt + 4, 1);
                write(loops, x, y, first, moments, Place.NONE, Place.NONE, workspace);
            } else {
                write(loops, x, y, first, moments, scales, biases, workspace);
            }
        }
    }

    /** As many rows from one on as loops over many do; returns how many. */
    private int rows(Loops loops, MemorySegment x, MemorySegment y, long row, long to, Place scales, Place biases) {
        int count = (int) Math.min(to - row, MOST_ROWS);
        int n = (int) norm.size;
        NormKernel.Form form = new NormKernel.Form(
                count, n, (float) norm.epsilon, norm.rms, 4 * norm.rows * n > SoftmaxStep.STREAM_BYTES);
        long offset = 4L * row * n;
        return loops.norm(form, new Matrix(x, offset, 4L * n), new Matrix(y, offset, 4L * n), scales, biases);
    }

    /** A parameter as a row of its own, in memory or repeated into workspace. */
    private Place place(CpuFrame frame, @Nullable Parameter parameter, MemorySegment workspace, long offset) {
        if (parameter == null) {
            return Place.NONE;
        }
        MemorySegment memory = frame.at(parameter.slot());
        if (!isCopied(parameter)) {
            return new Place(memory, 0);
        }
        int width = TileKind.of(dtype).bytes();
        for (long i = 0; i < norm.size; i++) {
            Convert.load(dtype, memory, parameter.broadcast().at(0, i), workspace, offset + width * i, 1);
        }
        return new Place(workspace, offset);
    }

    private void scaleDoubles(MemorySegment y, long row, Place scales, Place biases) {
        long size = norm.size;
        boolean perRow = norm.perRow;
        for (long i = 0; i < size; i++) {
            long at = 8 * (row * size + i);
            double value = y.get(Convert.F64, at);
            if (scale != null) {
                long element = perRow ? row % (scales.memory().byteSize() / 8) : i;
                value *= scales.memory().get(Convert.F64, scales.offset() + 8 * element);
            }
            if (bias != null) {
                long element = perRow ? row % (biases.memory().byteSize() / 8) : i;
                value += biases.memory().get(Convert.F64, biases.offset() + 8 * element);
            }
            y.set(Convert.F64, at, value);
        }
    }

    /**
     * The moments of a row.
     *
     * @param about what was taken off each element first
     * @param mean of the differences from that
     * @param variance of the differences; for RmsNorm the mean of their squares
     */
    private record Moments(float about, double mean, double variance) {}

    private Moments moments(Loops loops, MemorySegment x, long first, MemorySegment workspace) {
        long size = norm.size;
        double shift = 0;
        if (!norm.rms) {
            FloatRows.segment(dtype, x, first, 1, workspace, xAt);
            shift = dtype == DType.F32 ? x.get(Loops.F32, 4 * first) : workspace.get(Loops.F32, xAt);
        }
        for (int pass = 0; ; pass++) {
            float about = (float) shift;
            double sum = 0;
            double squares = 0;
            for (long at = 0; at < size; at += BLOCK) {
                int n = (int) Math.min(BLOCK, size - at);
                MemorySegment block = FloatRows.segment(dtype, x, first + at, n, workspace, xAt);
                loops.moments(block, FloatRows.offset(dtype, first + at, xAt), n, about, workspace, momentsAt);
                sum += workspace.get(Convert.F64, momentsAt);
                squares += workspace.get(Convert.F64, momentsAt + 8);
            }
            double mean = sum / size;
            if (norm.rms) {
                return new Moments(about, 0, squares / size);
            }
            double variance = Math.max(0, squares / size - mean * mean);
            if (Double.isNaN(variance) || mean * mean <= 4 * variance || pass == 1) {
                return new Moments(about, mean, variance);
            }
            shift = about + mean;
        }
    }

    /** Writes the row's norm, times {@code times} plus {@code plus} and with the rows of parameters. */
    private void write(
            Loops loops,
            MemorySegment x,
            MemorySegment y,
            long first,
            Moments moments,
            Place scales,
            Place biases,
            MemorySegment workspace) {
        long size = norm.size;
        double factor = 1 / Math.sqrt(moments.variance + norm.epsilon);
        float times = (float) factor;
        float plus = (float) (-moments.mean * factor);
        if (norm.perRow) {
            float rowScale = workspace.get(Loops.F32, momentsAt);
            times *= rowScale;
            plus = plus * rowScale + workspace.get(Loops.F32, momentsAt + 4);
        }
        NormFactors affine = new NormFactors(moments.about, times, plus);
        boolean direct = dtype == DType.F32;
        for (long at = 0; at < size; at += BLOCK) {
            int n = (int) Math.min(BLOCK, size - at);
            MemorySegment block = FloatRows.segment(dtype, x, first + at, n, workspace, xAt);
            Place source = new Place(block, FloatRows.offset(dtype, first + at, xAt));
            Place target = direct ? new Place(y, 4 * (first + at)) : new Place(workspace, yAt);
            loops.normalise(source, target, n, affine, scales.plus(4 * at), biases.plus(4 * at));
            if (!direct) {
                Convert.store(dtype, workspace, yAt, y, first + at, n);
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
