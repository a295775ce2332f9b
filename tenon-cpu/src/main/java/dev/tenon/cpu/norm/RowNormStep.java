package dev.tenon.cpu.norm;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.StridedCopy;
import dev.tenon.cpu.loops.TileKind;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.machine.NormKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import dev.tenon.cpu.step.Records;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * LayerNorm, RmsNorm and InstanceNorm over rows of consecutive elements.
 *
 * <p>The moments are those of the differences from the row's first element, in f32 by blocks and in double between
 * blocks. Where that element is far from the mean (more than two deviations) their difference would cancel, and a
 * second pass takes them about the mean.
 *
 * <p>All workers share a long row: each chunk of it gives its own moments, which are added in the order of the chunks.
 * Chunks do not depend on the number of workers, and so results do not.
 */
final class RowNormStep implements CpuStep, RangeTask {
    private static final int BLOCK = FloatRows.BLOCK;
    private static final int MOST_ROWS = 1 << 20;
    private static final long CHUNK = 16L * BLOCK;
    /** Rows from which on workers share each, where they are few, and where they are not. */
    private static final long LONG = 4 * CHUNK;

    private static final long FEW_ROWS = 8;
    private static final long VERY_LONG = 1 << 19;

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
    /** Of each chunk of a shared row its moments, and before them what was taken off its elements; of worker 0. */
    private final long foundAt;

    private final long scaleAt;
    private final long biasAt;
    private final long workspaceBytes;
    private final boolean shared;
    private final boolean stream;
    /** The form of as many rows as were done last; threads may lose it to each other. */
    private NormKernel.@Nullable Form last;

    private final RangeTask search = this::search;
    private final RangeTask finish = this::finish;

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
        shared = dtype != DType.F64 && (norm.size >= VERY_LONG || (norm.size >= LONG && norm.rows <= FEW_ROWS));
        foundAt = layout.take(shared ? 16 * (chunks() + 1) : 0);
        stream = SizeMath.product("norm", norm.rows, norm.size, dtype.bytes()) >= StridedCopy.STREAM_BYTES;
        workspaceBytes = layout.bytes();
    }

    private boolean isCopied(@Nullable Parameter parameter) {
        return parameter != null && !norm.perRow && !(parameter.isWhole() && TileKind.isDirect(dtype));
    }

    @Override
    public void run(CpuFrame frame) {
        if (shared) {
            for (long row = 0; row < norm.rows; row++) {
                shareRow(frame, row);
            }
        } else if (norm.size > 0) {
            frame.parallel(this, norm.rows, Math.max(1, 8192 / norm.size));
        }
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment workspace = frame.workspace(worker);
        Records records = frame.records(worker);
        Place scales = place(frame, scale, workspace, scaleAt, records);
        Place biases = place(frame, bias, workspace, biasAt, records);
        boolean together = dtype == DType.F32 && !norm.perRow && norm.size <= BLOCK;
        for (long row = from; row < to; row++) {
            if (together) {
                row += rows(frame, row, to, scales, biases, worker);
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
            NormFactors factors = factors(moments, row, scales, biases, workspace);
            write(frame, row, 0, norm.size, factors, scales, biases, worker);
        }
    }

    private long chunks() {
        return Math.ceilDiv(norm.size, CHUNK);
    }

    private void shareRow(CpuFrame frame, long row) {
        MemorySegment workspace = frame.workspace(0);
        frame.group()[0] = row;
        float about = about(frame.at(input), row * norm.size, workspace);
        Moments moments;
        for (int pass = 0; ; pass++) {
            workspace.set(Loops.F32, foundAt, about);
            frame.parallel(search, chunks(), 1);
            double sum = 0;
            double squares = 0;
            for (long chunk = 1; chunk <= chunks(); chunk++) {
                sum += workspace.get(Convert.F64, foundAt + 16 * chunk);
                squares += workspace.get(Convert.F64, foundAt + 16 * chunk + 8);
            }
            moments = moments(about, sum, squares);
            if (pass == 1 || !moments.isCancelled()) {
                break;
            }
            about = (float) (about + moments.mean);
        }
        Place scales = scale == null ? Place.NONE : new Place(frame.at(scale.slot()), 0);
        Place biases = bias == null ? Place.NONE : new Place(frame.at(bias.slot()), 0);
        NormFactors factors = factors(moments, row, scales, biases, workspace);
        workspace.set(Loops.F32, foundAt, factors.mean());
        workspace.set(Loops.F32, foundAt + 4, factors.factor());
        workspace.set(Loops.F32, foundAt + 8, factors.addend());
        frame.parallel(finish, chunks(), 1);
    }

    /** The moments of chunks of a shared row. */
    private void search(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        MemorySegment found = frame.workspace(0);
        MemorySegment workspace = frame.workspace(worker);
        float about = found.get(Loops.F32, foundAt);
        long first = frame.group()[0] * norm.size;
        for (long chunk = from; chunk < to; chunk++) {
            long begin = chunk * CHUNK;
            long end = Math.min(norm.size, begin + CHUNK);
            addMoments(loops, frame.at(input), first + begin, end - begin, about, workspace);
            found.set(Convert.F64, foundAt + 16 * (chunk + 1), workspace.get(Convert.F64, momentsAt));
            found.set(Convert.F64, foundAt + 16 * (chunk + 1) + 8, workspace.get(Convert.F64, momentsAt + 8));
        }
    }

    /** Writes chunks of a shared row, the last first: they were read last, and are in a cache yet. */
    private void finish(CpuFrame frame, long from, long to, int worker) {
        MemorySegment found = frame.workspace(0);
        NormFactors factors = new NormFactors(
                found.get(Loops.F32, foundAt), found.get(Loops.F32, foundAt + 4), found.get(Loops.F32, foundAt + 8));
        MemorySegment workspace = frame.workspace(worker);
        Place scales = place(frame, scale, workspace, scaleAt, frame.records(worker));
        Place biases = place(frame, bias, workspace, biasAt, frame.records(worker));
        for (long i = from; i < to; i++) {
            long begin = (chunks() - 1 - i) * CHUNK;
            long end = Math.min(norm.size, begin + CHUNK);
            write(frame, frame.group()[0], begin, end, factors, scales, biases, worker);
        }
    }

    /** As many rows from one on as loops over many do; returns how many. */
    private int rows(CpuFrame frame, long row, long to, Place scales, Place biases, int worker) {
        int count = (int) Math.min(to - row, MOST_ROWS);
        int n = (int) norm.size;
        NormKernel.Form form = last;
        if (form == null || form.rows() != count) {
            form = new NormKernel.Form(count, n, (float) norm.epsilon, norm.rms, stream);
            last = form;
        }
        long offset = 4L * row * n;
        Records records = frame.records(worker);
        Matrix x = records.matrix(frame.at(input), offset, 4L * n);
        Matrix y = records.matrix(frame.at(output), offset, 4L * n);
        return Loops.current().norm(form, x, y, scales, biases);
    }

    /** A parameter as a row of its own, in memory or repeated into workspace. */
    private Place place(
            CpuFrame frame, @Nullable Parameter parameter, MemorySegment workspace, long offset, Records records) {
        if (parameter == null) {
            return Place.NONE;
        }
        MemorySegment memory = frame.at(parameter.slot());
        if (!isCopied(parameter)) {
            return records.place(memory, 0);
        }
        int width = TileKind.of(dtype).bytes();
        for (long i = 0; i < norm.size; i++) {
            Convert.load(dtype, memory, parameter.broadcast().at(0, i), workspace, offset + width * i, 1);
        }
        return records.place(workspace, offset);
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
    private record Moments(float about, double mean, double variance) {
        /** Whether sums about the mean itself are worth another pass. */
        boolean isCancelled() {
            return mean * mean > 4 * variance;
        }
    }

    private Moments moments(float about, double sum, double squares) {
        if (norm.rms) {
            return new Moments(about, 0, squares / norm.size);
        }
        double mean = sum / norm.size;
        return new Moments(about, mean, Math.max(0, squares / norm.size - mean * mean));
    }

    /** What is taken off a row's elements first: its first element. */
    private float about(MemorySegment x, long first, MemorySegment workspace) {
        if (norm.rms) {
            return 0;
        }
        MemorySegment block = FloatRows.segment(dtype, x, first, 1, workspace, xAt);
        return block.get(Loops.F32, FloatRows.offset(dtype, first, xAt));
    }

    private Moments moments(Loops loops, MemorySegment x, long first, MemorySegment workspace) {
        float about = about(x, first, workspace);
        for (int pass = 0; ; pass++) {
            addMoments(loops, x, first, norm.size, about, workspace);
            double sum = workspace.get(Convert.F64, momentsAt);
            Moments moments = moments(about, sum, workspace.get(Convert.F64, momentsAt + 8));
            if (pass == 1 || !moments.isCancelled()) {
                return moments;
            }
            about = (float) (about + moments.mean);
        }
    }

    /** Puts two sums into the workspace: of the differences of elements from {@code about}, and of their squares. */
    private void addMoments(
            Loops loops, MemorySegment x, long first, long count, float about, MemorySegment workspace) {
        if (dtype == DType.F32) {
            loops.moments(x, 4 * first, count, about, workspace, momentsAt);
            return;
        }
        double sum = 0;
        double squares = 0;
        for (long at = 0; at < count; at += BLOCK) {
            int n = (int) Math.min(BLOCK, count - at);
            MemorySegment block = FloatRows.segment(dtype, x, first + at, n, workspace, xAt);
            loops.moments(block, FloatRows.offset(dtype, first + at, xAt), n, about, workspace, momentsAt);
            sum += workspace.get(Convert.F64, momentsAt);
            squares += workspace.get(Convert.F64, momentsAt + 8);
        }
        workspace.set(Convert.F64, momentsAt, sum);
        workspace.set(Convert.F64, momentsAt + 8, squares);
    }

    /** What a row's elements are multiplied by, and what is added, of its own scale and bias where it has them. */
    private NormFactors factors(Moments moments, long row, Place scales, Place biases, MemorySegment workspace) {
        double factor = 1 / Math.sqrt(moments.variance + norm.epsilon);
        float times = (float) factor;
        float plus = (float) (-moments.mean * factor);
        if (norm.perRow) {
            long channels = scales.memory().byteSize() / dtype.bytes();
            Convert.load(dtype, scales.memory(), row % channels, workspace, momentsAt, 1);
            Convert.load(dtype, biases.memory(), row % channels, workspace, momentsAt + 4, 1);
            float rowScale = workspace.get(Loops.F32, momentsAt);
            times *= rowScale;
            plus = plus * rowScale + workspace.get(Loops.F32, momentsAt + 4);
        }
        return new NormFactors(moments.about, times, plus);
    }

    /** Writes the norm of a row's elements [from, to), with the rows of parameters. */
    private void write(
            CpuFrame frame, long row, long from, long to, NormFactors factors, Place scales, Place biases, int worker) {
        Loops loops = Loops.current();
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment workspace = frame.workspace(worker);
        Place times = norm.perRow ? Place.NONE : scales;
        Place plus = norm.perRow ? Place.NONE : biases;
        long first = row * norm.size;
        for (long at = from; at < to; at += BLOCK) {
            int n = (int) Math.min(BLOCK, to - at);
            MemorySegment block = FloatRows.segment(dtype, x, first + at, n, workspace, xAt);
            Place source = new Place(block, FloatRows.offset(dtype, first + at, xAt));
            if (dtype != DType.F32) {
                Place target = new Place(workspace, yAt);
                loops.normalise(source, target, n, factors, times.plus(4 * at), plus.plus(4 * at));
                Convert.store(dtype, workspace, yAt, y, first + at, n);
            } else if (stream) {
                Place target = new Place(y, 4 * (first + at));
                loops.normaliseStreaming(source, target, n, factors, times.plus(4 * at), plus.plus(4 * at));
            } else {
                Place target = new Place(y, 4 * (first + at));
                loops.normalise(source, target, n, factors, times.plus(4 * at), plus.plus(4 * at));
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
