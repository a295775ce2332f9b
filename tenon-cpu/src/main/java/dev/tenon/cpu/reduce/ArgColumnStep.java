package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.cpu.columns.ColumnLoops;
import dev.tenon.cpu.columns.ColumnPanels;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.machine.ColumnKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Lanes;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Where the extreme of each column of f32 is. Where there are few columns, rows are cut into chunks, whose results are
 * joined at the end; so each worker reads memory that lies one behind the other. Machine code alone: without it, or of
 * memory that it does not take, the step for lanes runs.
 */
final class ArgColumnStep implements CpuStep {
    private static final int[] NO_KEYS = new int[2 * ColumnPanels.MOST];

    static {
        Arrays.fill(NO_KEYS, ColumnKernel.NO_KEY);
    }

    private final ArgReduceStep lanes;
    private final ColumnKernel.Search search;
    private final long size;
    private final int input;
    private final int output;
    private final ColumnPanels panels;
    /** Of each column of rows that are taken as one, then of each column of the rows that are left. */
    private final long keysAt;

    private final long rowsAt;
    /** The best row and key of each column of each unit, in the workspace of worker 0. */
    private final long foundAt;

    private final long workspaceBytes;
    private final RangeTask find = this::find;
    private final RangeTask finish = this::finish;

    ArgColumnStep(ArgReduce op, Node node, Lanes of, CpuLoweringContext context) {
        lanes = new ArgReduceStep(op, node, context);
        search = new ColumnKernel.Search(op.max(), op.last());
        size = of.size;
        input = context.slot(node.input(0));
        output = context.slot(node.output());
        panels = ColumnPanels.once(of.count / of.stride, size, of.stride);
        Layout layout = new Layout();
        long most = panels.columns() * (panels.together() + 1L);
        keysAt = layout.take(4 * most);
        rowsAt = layout.take(4 * most);
        foundAt = layout.take(
                panels.chunks() > 1 ? SizeMath.product("arg", Best.BYTES, panels.units(), panels.columns()) : 0);
        workspaceBytes = Math.max(layout.bytes(), lanes.workspaceBytes());
    }

    @Override
    public void run(CpuFrame frame) {
        if (!ColumnLoops.takes(frame.at(input), frame.workspace(0))) {
            lanes.run(frame);
            return;
        }
        frame.parallel(find, panels.units(), panels.chunks() > 1 ? 1 : panels.grain());
        if (panels.chunks() > 1) {
            frame.parallel(finish, panels.units() / panels.chunks(), 1);
        }
    }

    private void find(CpuFrame frame, long from, long to, int worker) {
        MemorySegment x = frame.at(input);
        MemorySegment workspace = frame.workspace(worker);
        for (long unit = from; unit < to; unit++) {
            int n = panels.columns(unit);
            int together = panels.together();
            int whole = (int) (panels.rows(unit) / together * together);
            int groups = search(x, unit, workspace);
            for (int j = 0; groups > 1 && j < n; j++) {
                join(j, n, whole, groups, workspace);
            }
            if (panels.chunks() > 1) {
                keep(unit, n, workspace, frame.workspace(0));
            } else {
                write(frame.at(output), result(unit), n, workspace);
            }
        }
    }

    /**
     * Leaves keys and rows of a unit: of each column of the first of rows that are taken as one, then of the second and
     * so on, then of the rows that are left. Returns how many there are of each column.
     */
    private int search(MemorySegment x, long unit, MemorySegment workspace) {
        int n = panels.columns(unit);
        int together = panels.together();
        int wide = n * together;
        int rows = (int) panels.rows(unit);
        int whole = rows / together;
        int left = rows - whole * together;
        clear(wide + n, workspace);
        long step = 4 * panels.inner();
        Matrix all = new Matrix(x, 4 * panels.first(unit), step * together);
        ColumnLoops.places(search, whole, wide, all, new Place(workspace, keysAt), new Place(workspace, rowsAt));
        if (left == 0) {
            return together;
        }
        Matrix rest = new Matrix(x, 4 * panels.first(unit) + step * whole * together, step);
        Place keys = new Place(workspace, keysAt + 4L * wide);
        ColumnLoops.places(search, left, n, rest, keys, new Place(workspace, rowsAt + 4L * wide));
        return together + 1;
    }

    private void clear(int count, MemorySegment workspace) {
        MemorySegment.copy(NO_KEYS, 0, workspace, Raw.I32, keysAt, count);
        workspace.asSlice(rowsAt, 4L * count).fill((byte) 0);
    }

    /** Takes what rows of the same column gave into the first key and row of the column. */
    private void join(int column, int n, int whole, int groups, MemorySegment workspace) {
        int together = panels.together();
        int bestKey = ColumnKernel.NO_KEY;
        int best = 0;
        for (int group = 0; group < groups; group++) {
            int key = workspace.get(Raw.I32, keysAt + 4L * (column + group * n));
            int place = workspace.get(Raw.I32, rowsAt + 4L * (column + group * n));
            int row = group < together ? place * together + group : whole + place;
            if (isBetter(key, row, bestKey, best)) {
                bestKey = key;
                best = row;
            }
        }
        workspace.set(Raw.I32, keysAt + 4L * column, bestKey);
        workspace.set(Raw.I32, rowsAt + 4L * column, best);
    }

    private boolean isBetter(int key, long row, int bestKey, long best) {
        boolean before = search.last() ? row > best : row < best;
        return key > bestKey || (key == bestKey && before);
    }

    private long found(long unit) {
        return foundAt + Best.BYTES * unit * panels.columns();
    }

    private void keep(long unit, int n, MemorySegment workspace, MemorySegment found) {
        long first = panels.first(unit) / panels.inner() % size;
        long at = found(unit);
        for (int j = 0; j < n; j++) {
            found.set(Raw.I64, at + Best.BYTES * j, first + workspace.get(Raw.I32, rowsAt + 4L * j));
            found.set(Raw.I32, at + Best.BYTES * j + 8, workspace.get(Raw.I32, keysAt + 4L * j));
        }
    }

    private void write(MemorySegment y, long first, int n, MemorySegment workspace) {
        for (int j = 0; j < n; j++) {
            y.set(Raw.I64, 8 * (first + j), workspace.get(Raw.I32, rowsAt + 4L * j));
        }
    }

    /** Joins the chunks of panels. */
    private void finish(CpuFrame frame, long from, long to, int worker) {
        MemorySegment found = frame.workspace(0);
        for (long panel = from; panel < to; panel++) {
            long unit = panel * panels.chunks();
            for (int j = 0; j < panels.columns(unit); j++) {
                long best = 0;
                int bestKey = ColumnKernel.NO_KEY;
                for (int chunk = 0; chunk < panels.chunks(); chunk++) {
                    long at = found(unit + chunk) + Best.BYTES * j;
                    long row = found.get(Raw.I64, at);
                    int key = found.get(Raw.I32, at + 8);
                    if (isBetter(key, row, bestKey, best)) {
                        bestKey = key;
                        best = row;
                    }
                }
                frame.at(output).set(Raw.I64, 8 * (result(unit) + j), best);
            }
        }
    }

    /** The first result of a panel. */
    private long result(long unit) {
        long first = panels.first(unit);
        return first / panels.inner() / size * panels.inner() + first % panels.inner();
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
