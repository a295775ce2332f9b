package dev.tenon.cpu.norm;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.StridedCopy;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.machine.Place;
import dev.tenon.cpu.machine.SoftmaxKernel;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Softmax or its logarithm over few rows so long that all workers share each: chunks that stay in a cache give their
 * largest element and their sum of exponentials against it, which the result keeps where it is f32; then every chunk
 * is scaled, or written, by what all of them have in common. Results that are too large for the caches go past them.
 * Chunks and their order do not depend on the number of workers, and so results do not.
 */
final class LongSoftmaxStep implements CpuStep {
    /** Longer rows are shared where they are few: up to here each stays in a cache. */
    static final long MOST_ALONE = SoftmaxKernel.MOST;

    /** More rows than these go to the workers whole. */
    static final long MOST_ROWS = 8;

    private static final int BLOCK = FloatRows.BLOCK;
    private static final long CHUNK = 16L * BLOCK;
    private static final long X_AT = SoftmaxBlocks.X_AT;
    private static final long Y_AT = SoftmaxBlocks.Y_AT;
    /** Of each chunk the sum and, behind it, the largest element; in the workspace of the first worker. */
    private static final long FOUND_AT = SoftmaxBlocks.BYTES;

    private static final long FOUND_BYTES = 16;

    private final DType dtype;
    private final long rows;
    private final long size;
    private final boolean log;
    private final SoftmaxBlocks blocks;
    private final int input;
    private final int output;
    private final boolean kept;
    private final boolean stream;
    private final long chunks;
    private final RangeTask search = this::search;
    private final RangeTask finish = this::finish;

    /** @param dtype f32, f16 or bf16 */
    LongSoftmaxStep(DType dtype, long rows, long size, boolean log, int input, int output) {
        this.dtype = dtype;
        this.rows = rows;
        this.size = size;
        this.log = log;
        this.blocks = new SoftmaxBlocks(dtype);
        this.input = input;
        this.output = output;
        this.stream = SizeMath.product("softmax", rows, size, dtype.bytes()) >= StridedCopy.STREAM_BYTES;
        this.kept = dtype == DType.F32 && !log;
        this.chunks = Math.ceilDiv(size, CHUNK);
    }

    @Override
    public void run(CpuFrame frame) {
        for (long row = 0; row < rows; row++) {
            frame.group()[0] = row;
            frame.parallel(search, chunks, 1);
            frame.parallel(finish, chunks, 1);
        }
    }

    private void search(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        MemorySegment x = frame.at(input);
        MemorySegment workspace = frame.workspace(worker);
        MemorySegment found = frame.workspace(0);
        long first = frame.group()[0] * size;
        for (long chunk = from; chunk < to; chunk++) {
            long end = Math.min(size, (chunk + 1) * CHUNK);
            float max = Float.NEGATIVE_INFINITY;
            for (long at = chunk * CHUNK; at < end; at += BLOCK) {
                int n = (int) Math.min(BLOCK, end - at);
                MemorySegment block = FloatRows.segment(dtype, x, first + at, n, workspace, X_AT);
                max = Math.max(max, loops.max(block, FloatRows.offset(dtype, first + at, X_AT), n));
            }
            double sum = 0;
            for (long at = chunk * CHUNK; at < end; at += BLOCK) {
                int n = (int) Math.min(BLOCK, end - at);
                sum += kept
                        ? blocks.keptExponentials(loops, x, frame.at(output), first + at, n, max, stream)
                        : blocks.exponentials(loops, x, first + at, n, max, workspace);
            }
            found.set(ValueLayout.JAVA_DOUBLE, FOUND_AT + FOUND_BYTES * chunk, sum);
            found.set(ValueLayout.JAVA_FLOAT, FOUND_AT + FOUND_BYTES * chunk + 8, max);
        }
    }

    private void finish(CpuFrame frame, long from, long to, int worker) {
        MemorySegment found = frame.workspace(0);
        float max = Float.NEGATIVE_INFINITY;
        for (long chunk = 0; chunk < chunks; chunk++) {
            max = Math.max(max, found.get(ValueLayout.JAVA_FLOAT, FOUND_AT + FOUND_BYTES * chunk + 8));
        }
        double sum = 0;
        for (long chunk = 0; chunk < chunks; chunk++) {
            float own = found.get(ValueLayout.JAVA_FLOAT, FOUND_AT + FOUND_BYTES * chunk + 8);
            if (own == max || own != Float.NEGATIVE_INFINITY) { // else its sum is NaN, and it adds nothing
                sum += found.get(ValueLayout.JAVA_DOUBLE, FOUND_AT + FOUND_BYTES * chunk)
                        * Math.exp((double) own - (own == max ? own : max));
            }
        }
        for (long chunk = from; chunk < to; chunk++) {
            float own = found.get(ValueLayout.JAVA_FLOAT, FOUND_AT + FOUND_BYTES * chunk + 8);
            float factor = (float) ((own == max ? 1 : Math.exp((double) own - max)) / sum);
            finish(frame, chunk, kept ? factor : (float) (1 / sum), max, log ? (float) -Math.log(sum) : 0, worker);
        }
    }

    /** @param factor of what is kept, or else of the exponentials against the row's largest element */
    private void finish(CpuFrame frame, long chunk, float factor, float max, float minusLog, int worker) {
        Loops loops = Loops.current();
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment workspace = frame.workspace(worker);
        long end = Math.min(size, (chunk + 1) * CHUNK);
        long first = frame.group()[0] * size;
        for (long at = chunk * CHUNK; at < end; at += BLOCK) {
            int n = (int) Math.min(BLOCK, end - at);
            if (log) {
                blocks.logarithms(loops, x, y, first + at, n, new NormFactors(max, 1, minusLog), stream, workspace);
            } else if (kept && factor == 0) {
                loops.fill(y, 4 * (first + at), 0, n); // what is kept is NaN where the chunk is -infinity alone
            } else if (kept) {
                blocks.scaled(loops, new Place(y, 4 * (first + at)), y, first + at, n, factor, stream);
            } else {
                blocks.exponentials(loops, x, first + at, n, max, workspace);
                blocks.scaled(loops, new Place(workspace, Y_AT), y, first + at, n, factor, stream);
            }
        }
    }

    @Override
    public String tier() {
        return "rows, shared by all workers";
    }

    @Override
    public long workspaceBytes() {
        return SizeMath.sum("softmax", FOUND_AT, SizeMath.product("softmax", FOUND_BYTES, chunks));
    }
}
