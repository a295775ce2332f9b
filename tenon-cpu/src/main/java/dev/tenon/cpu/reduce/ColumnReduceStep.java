package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.columns.ColumnLoops;
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
import java.util.Arrays;

/**
 * Reductions of f32 and short floats over axes that are not the last: many results at once, sums in double. Short rows
 * that lie one behind the other are taken several at a time; their results are joined at the end. Where there are few
 * columns, rows are cut into chunks for the workers, which do not depend on their number.
 */
final class ColumnReduceStep implements CpuStep, RangeTask {
    /** Not a power of two: rows that lie one such row apart would share few places of a cache. */
    private static final int COLUMNS = 8192;

    /** Of short rows that are taken together: no power of two, for rows so far apart would share places of a cache. */
    private static final int WIDE = 1008;

    /** Rows that machine code sums in f32 before they are added in double. */
    private static final int SUMMED = 120;

    /** Elements of a chunk of rows, and the most chunks. */
    private static final long CHUNK = 1 << 18;

    private static final long MOST_CHUNKS = 64;

    /** Results of all chunks of a tile, which are joined at the end, at most. */
    private static final long MOST_FOUND = 1 << 17;

    /** Columns that are worth a worker's while when chunks are joined. */
    private static final int JOINED = 512;

    /** Tiles that are enough pieces without chunks. */
    private static final long MANY_TILES = 16;

    private static final Unary ABS = Unary.of(UnaryFn.ABS);
    private static final Unary EXP = Unary.of(UnaryFn.EXP);

    private static final int[] LEAST_KEYS = keys(Integer.MIN_VALUE);
    private static final int[] MOST_KEYS = keys(Integer.MAX_VALUE);

    private final ReduceFn fn;
    private final DType dtype;
    private final CpuReductionLowering.Walk kept;
    private final CpuReductionLowering.Walk reduced;
    private final int input;
    private final int output;
    private final long count;
    private final long tilesPerRow;
    /** Rows that are taken as one. */
    private final int together;
    /** Whether machine code sums rows where it runs. */
    private final boolean summed;

    private final long chunks;
    private final long xAt;
    private final long yAt;
    private final long bestAt;
    private final long sumAt;
    /** What chunks of rows gave, in the workspace of worker 0. */
    private final long foundAt;

    private final long workspaceBytes;
    private final RangeTask joining = this::joinChunks;

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
        this.together = together(kept, reduced);
        boolean sums = fn == ReduceFn.SUM || fn == ReduceFn.MEAN || fn == ReduceFn.LOG_SUM;
        this.summed = sums && dtype == DType.F32 && reduced.isSingle();
        long columns = Math.min(COLUMNS, kept.inner());
        boolean cut = tiles() < MANY_TILES && fn != ReduceFn.LOG_SUM_EXP;
        long most = Math.clamp(MOST_FOUND / columns, 1, MOST_CHUNKS);
        this.chunks = cut ? Math.clamp(count / Math.ceilDiv(CHUNK, columns), 1, most) : 1;
        Layout layout = new Layout();
        xAt = layout.take(4L * COLUMNS);
        yAt = layout.take(4L * COLUMNS);
        bestAt = layout.take(4L * COLUMNS);
        sumAt = layout.take(8L * COLUMNS);
        foundAt = layout.take(chunks > 1 ? 8L * COLUMNS * tiles() * chunks : 0);
        workspaceBytes = layout.bytes();
    }

    private static int[] keys(int key) {
        int[] all = new int[COLUMNS];
        Arrays.fill(all, key);
        return all;
    }

    /** Rows, one behind the other, that are as wide as a tile together; 1 where they are not one behind the other. */
    static int together(CpuReductionLowering.Walk kept, CpuReductionLowering.Walk reduced) {
        boolean joined = kept.innerStride() == 1 && reduced.isSingle() && reduced.innerStride() == kept.inner();
        return joined ? (int) Math.clamp(WIDE / kept.inner(), 1, reduced.elements()) : 1;
    }

    private long tiles() {
        return kept.elements() / kept.inner() * tilesPerRow;
    }

    @Override
    public void run(CpuFrame frame) {
        long perTile = Math.min(COLUMNS, kept.inner()) * Math.ceilDiv(count, chunks);
        frame.parallel(this, tiles() * chunks, Math.max(1, 16_384 / perTile));
        if (chunks > 1) {
            frame.parallel(joining, tiles() * Math.ceilDiv(COLUMNS, JOINED), 1);
        }
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        MemorySegment x = frame.at(input);
        MemorySegment workspace = frame.workspace(worker);
        long chunkRows = Math.ceilDiv(count, chunks);
        for (long unit = from; unit < to; unit++) {
            long tile = unit / chunks;
            long first = first(tile);
            int n = columns(tile);
            long row = Math.min(count, unit % chunks * chunkRows);
            reduce(loops, x, kept.at(first), n, row, Math.min(count, row + chunkRows), workspace);
            for (int j = 0; j < n; j++) {
                double running = isExtreme()
                        ? workspace.get(Loops.F32, bestAt + 4L * j)
                        : workspace.get(Convert.F64, sumAt + 8L * j);
                if (chunks > 1) {
                    frame.workspace(0).set(Convert.F64, foundAt + 8 * (unit * COLUMNS + j), running);
                } else {
                    double max = workspace.get(Loops.F32, bestAt + 4L * j);
                    Elements.setDouble(dtype, frame.at(output), first + j, Fold.finish(fn, running, count, max));
                }
            }
        }
    }

    /** Joins the chunks of some columns of tiles. */
    private void joinChunks(CpuFrame frame, long from, long to, int worker) {
        long parts = Math.ceilDiv(COLUMNS, JOINED);
        for (long part = from; part < to; part++) {
            int begin = (int) (part % parts) * JOINED;
            joinChunks(frame, part / parts, begin, Math.min(columns(part / parts), begin + JOINED));
        }
    }

    private void joinChunks(CpuFrame frame, long tile, int begin, int end) {
        MemorySegment found = frame.workspace(0);
        for (int j = begin; j < end; j++) {
            double running = Fold.start(fn);
            for (long chunk = 0; chunk < chunks; chunk++) {
                long at = (tile * chunks + chunk) * COLUMNS + j;
                running = Fold.joinRunning(fn, running, found.get(Convert.F64, foundAt + 8 * at));
            }
            Elements.setDouble(dtype, frame.at(output), first(tile) + j, Fold.finish(fn, running, count, 0));
        }
    }

    private boolean isExtreme() {
        return fn == ReduceFn.MAX || fn == ReduceFn.MIN;
    }

    /** The first result of a tile. */
    private long first(long tile) {
        return tile / tilesPerRow * kept.inner() + tile % tilesPerRow * COLUMNS;
    }

    private int columns(long tile) {
        return (int) Math.min(COLUMNS, kept.inner() - tile % tilesPerRow * COLUMNS);
    }

    /** Rows [from, to) of n columns: their extremes, or their sums and the like. */
    private void reduce(Loops loops, MemorySegment x, long base, int n, long from, long to, MemorySegment workspace) {
        if (isExtreme() || fn == ReduceFn.LOG_SUM_EXP) {
            extremes(loops, x, base, n, from, to, workspace);
        }
        if (!isExtreme()) {
            join(loops, x, base, n, from, to, summed, workspace);
            if (summed && !areFinite(workspace, n)) {
                join(
                        loops, x, base, n, from, to, false,
                        workspace); // sums in f32 overflow where those in double do not
            }
        }
    }

    private void extremes(Loops loops, MemorySegment x, long base, int n, long from, long to, MemorySegment workspace) {
        int wide = n * together;
        long whole = from + (to - from) / together * together;
        BinaryFn pick = fn == ReduceFn.MIN ? BinaryFn.MIN : BinaryFn.MAX;
        loops.fill(workspace, bestAt, (float) Fold.start(fn == ReduceFn.MIN ? ReduceFn.MIN : ReduceFn.MAX), wide);
        boolean found = isFound(x, base, n, from, whole, workspace);
        for (long i = found ? whole : from; i < to; i += i < whole ? together : 1) {
            long first = base + reduced.at(i);
            int count = i < whole ? wide : n;
            MemorySegment row = FloatRows.segment(dtype, x, first, count, workspace, xAt);
            long offset = FloatRows.offset(dtype, first, xAt);
            loops.binary(pick, workspace, bestAt, row, offset, workspace, bestAt, count);
        }
        for (int done = n; done < wide && !found; done++) {
            float known = workspace.get(Loops.F32, bestAt + 4L * (done % n));
            float next = workspace.get(Loops.F32, bestAt + 4L * done);
            float best = fn == ReduceFn.MIN ? Math.min(known, next) : Math.max(known, next);
            workspace.set(Loops.F32, bestAt + 4L * (done % n), best);
        }
        for (int done = n; done < wide && !isExtreme(); done++) { // as many columns as the sums have
            workspace.set(Loops.F32, bestAt + 4L * done, workspace.get(Loops.F32, bestAt + 4L * (done % n)));
        }
    }

    /** Whether machine code has found the extremes of whole rows, and put them to the first n columns. */
    private boolean isFound(MemorySegment x, long base, int n, long from, long whole, MemorySegment workspace) {
        int wide = n * together;
        if (dtype != DType.F32 || !reduced.isSingle() || whole - from > Integer.MAX_VALUE) {
            return false;
        }
        MemorySegment.copy(LEAST_KEYS, 0, workspace, Convert.I32, xAt, wide);
        MemorySegment.copy(MOST_KEYS, 0, workspace, Convert.I32, yAt, wide);
        int rows = (int) ((whole - from) / together);
        Matrix all = new Matrix(x, 4 * (base + reduced.at(from)), 4 * reduced.innerStride() * together);
        if (!ColumnLoops.extremes(rows, wide, all, new Place(workspace, xAt), new Place(workspace, yAt))) {
            return false;
        }
        for (int j = 0; j < wide && rows > 0; j++) {
            int most = workspace.get(Convert.I32, xAt + 4L * j);
            int least = workspace.get(Convert.I32, yAt + 4L * j);
            float found = fn == ReduceFn.MIN ? RowFoldKernel.smallest(most, least) : RowFoldKernel.largest(most, least);
            long at = bestAt + 4L * (j % n);
            if (j >= n) {
                float known = workspace.get(Loops.F32, at);
                found = fn == ReduceFn.MIN ? Math.min(known, found) : Math.max(known, found);
            }
            workspace.set(Loops.F32, at, found);
        }
        return true;
    }

    private boolean areFinite(MemorySegment workspace, int n) {
        double zero = 0;
        for (int j = 0; j < n; j++) {
            zero += 0 * workspace.get(Convert.F64, sumAt + 8L * j);
        }
        return zero == 0;
    }

    private void join(
            Loops loops,
            MemorySegment x,
            long base,
            int n,
            long from,
            long to,
            boolean machine,
            MemorySegment workspace) {
        int wide = n * together;
        long whole = from + (to - from) / together * together;
        double start = Fold.start(fn);
        if (start == 0) {
            workspace.asSlice(sumAt, 8L * wide).fill((byte) 0);
        }
        for (int j = 0; j < wide && start != 0; j++) {
            workspace.set(Convert.F64, sumAt + 8L * j, start);
        }
        long i = from;
        while (machine && i < whole) {
            int rows = (int) Math.min(SUMMED, (whole - i) / together);
            Matrix all = new Matrix(x, 4 * (base + reduced.at(i)), 4 * reduced.innerStride() * together);
            workspace.asSlice(yAt, 4L * wide).fill((byte) 0);
            if (!ColumnLoops.addSums(rows, wide, all, new Place(workspace, yAt))) {
                break;
            }
            loops.accumulate(workspace, yAt, workspace, sumAt, wide);
            i += (long) rows * together;
        }
        for (; i < to; i += i < whole ? together : 1) {
            long first = base + reduced.at(i);
            int count = i < whole ? wide : n;
            MemorySegment row = FloatRows.segment(dtype, x, first, count, workspace, xAt);
            join(loops, row, FloatRows.offset(dtype, first, xAt), count, workspace);
        }
        for (int done = n; done < wide; done++) {
            long at = sumAt + 8L * (done % n);
            double running = workspace.get(Convert.F64, at);
            double next = workspace.get(Convert.F64, sumAt + 8L * done);
            workspace.set(Convert.F64, at, Fold.joinRunning(fn, running, next));
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
