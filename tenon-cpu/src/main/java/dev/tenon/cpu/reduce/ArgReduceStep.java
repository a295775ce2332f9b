package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.cpu.columns.ColumnLoops;
import dev.tenon.cpu.keys.KeyLoops;
import dev.tenon.cpu.keys.Keys;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.StridedCopy;
import dev.tenon.cpu.machine.ColumnKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Lanes;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Where the extreme of each lane is: of lanes that lie side by side, or have elements of less than a byte. */
final class ArgReduceStep extends LoopStep {
    /** Of a panel, and fewer that are worth a piece. */
    private static final int COLUMNS = 1024;

    private static final int LEAST_COLUMNS = 256;

    /** Columns that rows are taken together for. */
    private static final int TOGETHER = 512;

    private static final long ROWS_AT = 4L * COLUMNS;

    /** Of lanes of other types that are worked on as lines, and how many of their rows. */
    private static final int LINES_BYTES = 256;

    private static final int LINE_ROWS = 256;
    private static final long LINES_AT = Best.at(LINES_BYTES);

    private final DType dtype;
    private final Lanes lanes;
    private final boolean columns;
    /** Null of elements of less than a byte. */
    private final @Nullable Keys keys;

    private final ColumnKernel.Search search;
    private final boolean max;
    private final boolean last;
    private final int input;
    private final int output;

    ArgReduceStep(ArgReduce op, Node node, CpuLoweringContext context) {
        Lanes lanes = new Lanes(node.input(0).shape(), op.axis());
        super("lanes", lanes.count, lanes.size);
        this.dtype = node.input(0).dtype();
        this.lanes = lanes;
        this.columns = dtype == DType.F32 && lanes.stride > 1 && lanes.size <= Integer.MAX_VALUE;
        this.keys = Keys.has(dtype) ? Keys.ofExtremes(dtype, op.max()) : null;
        this.search = new ColumnKernel.Search(op.max(), op.last());
        this.max = op.max();
        this.last = op.last();
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment source = frame.at(input);
        MemorySegment target = frame.at(output);
        if (columns && ColumnLoops.takes(source, frame.workspace(worker))) {
            for (long lane = from; lane < to; ) {
                int n = (int) Math.min(Math.min(COLUMNS, to - lane), lanes.stride - lane % lanes.stride);
                panel(frame, lane, n, frame.workspace(worker));
                lane += n;
            }
            return;
        }
        if (keys != null) {
            for (long lane = from; lane < to; ) {
                int n = (int)
                        Math.min(Math.min(LINES_BYTES / keys.width(), to - lane), lanes.stride - lane % lanes.stride);
                lines(keys, frame, lane, n, frame.workspace(worker));
                lane += n;
            }
            return;
        }
        for (long lane = from; lane < to; lane++) {
            long first = lanes.first(lane, lanes.size);
            target.set(Raw.I64, lane * 8, inLane(source, first));
        }
    }

    /** Lanes side by side; several rows are taken as one where they are few, and lie one behind the other. */
    private void panel(CpuFrame frame, long lane, int n, MemorySegment workspace) {
        long first = lanes.first(lane, lanes.size);
        int together = n == lanes.stride ? (int) Math.clamp(TOGETHER / n, 1, lanes.size) : 1;
        int wide = n * together;
        for (int j = 0; j < wide; j++) {
            workspace.set(Raw.I32, 4L * j, ColumnKernel.NO_KEY);
        }
        workspace.asSlice(ROWS_AT, 4L * wide).fill((byte) 0);
        long rows = lanes.size / together;
        Place keys = new Place(workspace, 0);
        Place places = new Place(workspace, ROWS_AT);
        Matrix x = new Matrix(frame.at(input), 4 * first, 4 * lanes.stride * together);
        ColumnLoops.places(search, (int) rows, wide, x, keys, places);
        for (int j = 0; j < n; j++) {
            long best = workspace.get(Raw.I32, ROWS_AT + 4L * j) * (long) together;
            int bestKey = workspace.get(Raw.I32, 4L * j);
            for (int copy = 1; copy < together; copy++) {
                int key = workspace.get(Raw.I32, 4L * (j + copy * n));
                long row = workspace.get(Raw.I32, ROWS_AT + 4L * (j + copy * n)) * (long) together + copy;
                boolean better = key > bestKey || (key == bestKey && (last ? row > best : row < best));
                best = better ? row : best;
                bestKey = Math.max(bestKey, key);
            }
            for (long row = rows * together; row < lanes.size; row++) {
                best = better(frame.at(input), first + j, best, row);
            }
            frame.at(output).set(Raw.I64, 8 * (lane + j), best);
        }
    }

    /** Lanes side by side as lines, so many rows at a time. */
    private void lines(Keys known, CpuFrame frame, long lane, int n, MemorySegment workspace) {
        MemorySegment lines = workspace.asSlice(LINES_AT, (long) LINES_BYTES * LINE_ROWS);
        long first = lanes.first(lane, lanes.size);
        Best best = new Best(workspace, last);
        for (int j = 0; j < n; j++) {
            best.clear(Best.at(j), known);
        }
        for (long row = 0; row < lanes.size; row += LINE_ROWS) {
            int rows = (int) Math.min(LINE_ROWS, lanes.size - row);
            StridedCopy.turn(dtype, frame.at(input), first + row * lanes.stride, lanes.stride, rows, n, lines);
            for (int j = 0; j < n; j++) {
                if (j % KeyLoops.BLOCKS == 0) {
                    KeyLoops.largest(known, lines, (long) j * rows, rows, rows, workspace, 0);
                }
                long key = workspace.get(Raw.I64, 8L * (j % KeyLoops.BLOCKS));
                if (best.take(Best.at(j), key, row)) {
                    best.set(Best.at(j), key, row + KeyLoops.find(known, lines, (long) j * rows, rows, key, last));
                }
            }
        }
        for (int j = 0; j < n; j++) {
            frame.at(output).set(Raw.I64, 8 * (lane + j), best.index(Best.at(j)));
        }
    }

    /** Of two rows of a lane, a later one second. */
    private long better(MemorySegment source, long first, long best, long row) {
        long bestKey = key(source, first + best * lanes.stride);
        long key = key(source, first + row * lanes.stride);
        return key > bestKey || (last && key == bestKey) ? row : best;
    }

    @Override
    protected long leastUnits() {
        return columns
                ? Math.min(lanes.stride, LEAST_COLUMNS)
                : Math.min(lanes.stride, 8L * LINES_BYTES / dtype.bits());
    }

    @Override
    public long workspaceBytes() {
        long lines = keys == null ? 0 : LINES_AT + (long) LINES_BYTES * LINE_ROWS;
        return Math.max(columns ? 2 * ROWS_AT : 0, lines);
    }

    private long inLane(MemorySegment source, long first) {
        long best = 0;
        long bestKey = key(source, first);
        for (long i = 1; i < lanes.size; i++) {
            long key = key(source, first + i * lanes.stride);
            if (key > bestKey || (last && key == bestKey)) {
                best = i;
                bestKey = key;
            }
        }
        return best;
    }

    /** Larger wins; NaN wins of the smallest too. */
    private long key(MemorySegment source, long index) {
        long key = Order.key(dtype, source, index);
        return max || (dtype.isFloat() && key == Long.MAX_VALUE) ? key : ~key;
    }
}
