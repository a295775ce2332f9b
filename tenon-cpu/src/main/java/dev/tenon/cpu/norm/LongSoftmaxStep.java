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
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Softmax or its logarithm over few rows so long that all workers share each: chunks that stay in a cache give their
 * largest element and their sum of exponentials against it; then every chunk is written from what all of them have in
 * common, the last first, for that is in a cache yet. Results that are too large for the caches go past them. Chunks
 * and their order do not depend on the number of workers, and so results do not.
 */
final class LongSoftmaxStep implements CpuStep {
    /** Longer rows are shared where they are few: up to here each stays in a cache. */
    static final long MOST_ALONE = SoftmaxKernel.MOST;

    /** More rows than these go to the workers whole. */
    static final long MOST_ROWS = 8;

    private static final int BLOCK = FloatRows.BLOCK;
    private static final int CHUNK = RowTotals.MOST;

    private static final long FOUND_BYTES = 16;

    private final DType dtype;
    private final long rows;
    private final long size;
    private final boolean log;
    private final SoftmaxBlocks blocks;
    private final int input;
    private final int output;
    private final boolean stream;
    private final long chunks;
    private final RowTotals totals;
    /** Of each chunk the sum and, behind it, the largest element; in the workspace of the first worker. */
    private final long foundAt;

    private final long workspaceBytes;
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
        this.chunks = Math.ceilDiv(size, CHUNK);
        Layout layout = new Layout();
        layout.take(SoftmaxBlocks.BYTES);
        this.totals = new RowTotals(dtype, layout);
        this.foundAt = layout.take(SizeMath.product("softmax", FOUND_BYTES, chunks));
        this.workspaceBytes = layout.bytes();
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
        MemorySegment x = frame.at(input);
        MemorySegment workspace = frame.workspace(worker);
        MemorySegment found = frame.workspace(0);
        long first = frame.group()[0] * size;
        for (long chunk = from; chunk < to; chunk++) {
            int count = (int) Math.min(size - chunk * CHUNK, CHUNK);
            if (ColumnLoops.takes(x, frame.at(output))) {
                totals.find(x, first + chunk * CHUNK, count, workspace);
                found.set(ValueLayout.JAVA_DOUBLE, foundAt + FOUND_BYTES * chunk, totals.sum(workspace));
                found.set(ValueLayout.JAVA_FLOAT, foundAt + FOUND_BYTES * chunk + 8, totals.most(workspace));
            } else {
                find(x, first + chunk * CHUNK, count, workspace, found, foundAt + FOUND_BYTES * chunk);
            }
        }
    }

    /** By loops in Java. */
    private void find(MemorySegment x, long first, int count, MemorySegment workspace, MemorySegment found, long at) {
        Loops loops = Loops.current();
        float max = ExpTotals.LEAST;
        for (int done = 0; done < count; done += BLOCK) {
            int n = Math.min(BLOCK, count - done);
            MemorySegment block = FloatRows.segment(dtype, x, first + done, n, workspace, SoftmaxBlocks.X_AT);
            max = Math.max(max, loops.max(block, FloatRows.offset(dtype, first + done, SoftmaxBlocks.X_AT), n));
        }
        double sum = 0;
        for (int done = 0; done < count; done += BLOCK) {
            sum += blocks.exponentials(loops, x, first + done, Math.min(BLOCK, count - done), max, workspace);
        }
        found.set(ValueLayout.JAVA_DOUBLE, at, sum);
        found.set(ValueLayout.JAVA_FLOAT, at + 8, max);
    }

    private void finish(CpuFrame frame, long from, long to, int worker) {
        MemorySegment found = frame.workspace(0);
        float max = ExpTotals.LEAST;
        double sum = 0;
        for (long chunk = 0; chunk < chunks; chunk++) {
            float own = found.get(ValueLayout.JAVA_FLOAT, foundAt + FOUND_BYTES * chunk + 8);
            sum = ExpTotals.joined(max, sum, own, found.get(ValueLayout.JAVA_DOUBLE, foundAt + FOUND_BYTES * chunk));
            max = Math.max(max, own);
        }
        float factor = (float) (log ? Math.log(sum) : 1 / sum);
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment workspace = frame.workspace(worker);
        boolean machine = ColumnLoops.takes(x, y);
        if (machine) {
            totals.spread(max, factor, workspace);
        }
        for (long i = from; i < to; i++) {
            long chunk = chunks - 1 - i;
            long first = frame.group()[0] * size + chunk * CHUNK;
            int count = (int) Math.min(size - chunk * CHUNK, CHUNK);
            if (machine) {
                totals.write(x, y, first, count, log, stream, workspace);
            } else {
                write(x, y, first, count, max, factor, workspace);
            }
        }
    }

    /** By loops in Java. */
    private void write(
            MemorySegment x, MemorySegment y, long first, int count, float max, float factor, MemorySegment workspace) {
        Loops loops = Loops.current();
        for (int at = 0; at < count; at += BLOCK) {
            int n = Math.min(BLOCK, count - at);
            if (log) {
                blocks.logarithms(loops, x, y, first + at, n, new NormFactors(max, 1, -factor), stream, workspace);
            } else {
                blocks.exponentials(loops, x, first + at, n, max, workspace);
                Place exponentials = new Place(workspace, SoftmaxBlocks.Y_AT);
                blocks.scaled(loops, exponentials, y, first + at, n, factor, stream);
            }
        }
    }

    @Override
    public String tier() {
        return "rows, shared by all workers";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
