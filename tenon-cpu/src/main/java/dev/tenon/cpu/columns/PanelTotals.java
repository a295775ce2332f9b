package dev.tenon.cpu.columns;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * Of each column of a unit of {@link ColumnPanels} the largest element and the sum of exponentials against it: of all
 * units in the workspace of worker 0 where chunks are to be joined, else of the unit in work in each worker's own.
 */
public final class PanelTotals {
    private static final int PAIR = 16;

    private final ColumnPanels panels;
    private final ExpTotals totals;
    private final int input;
    private final long at;
    private final RangeTask search = this::search;
    private final RangeTask joining = this::joinChunks;

    /**
     * Takes room in a workspace.
     *
     * @param input the slot of x
     */
    public PanelTotals(ColumnPanels panels, ExpTotals totals, int input, Layout layout) {
        this.panels = panels;
        this.totals = totals;
        this.input = input;
        long kept = panels.chunks() > 1 ? panels.units() : 1;
        at = layout.take(SizeMath.product("columns", PAIR, kept, panels.columns()));
    }

    /** The rows of a unit from one on, so many taken as one. */
    public ExpTotals.Rows rows(MemorySegment x, long unit, int together, long skipped) {
        long first = panels.first(unit) + skipped * panels.inner();
        return new ExpTotals.Rows(x, first, panels.inner() * together, panels.columns(unit) * together);
    }

    /**
     * Finds the totals of a unit.
     *
     * @param found where they go
     * @param index among the units there
     */
    public void find(MemorySegment x, long unit, MemorySegment workspace, MemorySegment found, long index) {
        int n = panels.columns(unit);
        int together = panels.together();
        long rows = panels.rows(unit);
        long wide = rows / together;
        for (int j = 0; j < n; j++) {
            found.set(Convert.F64, pair(index, j), ExpTotals.LEAST);
            found.set(Convert.F64, pair(index, j) + 8, 0);
        }
        if (wide > 0) {
            totals.take(rows(x, unit, together, 0), wide, workspace);
            join(n * together, n, workspace, found, index);
        }
        if (rows > wide * together) {
            totals.take(rows(x, unit, 1, wide * together), rows - wide * together, workspace);
            join(n, n, workspace, found, index);
        }
    }

    private long pair(long index, int column) {
        return at + PAIR * (index * panels.columns() + column);
    }

    /** Adds the totals of columns, which are n columns again and again. */
    private void join(int count, int n, MemorySegment workspace, MemorySegment found, long index) {
        for (int j = 0; j < count; j++) {
            join(found, pair(index, j % n), totals.most(j, workspace), totals.sum(j, workspace));
        }
    }

    private static void join(MemorySegment found, long pair, float most, double sum) {
        float known = (float) found.get(Convert.F64, pair);
        found.set(Convert.F64, pair + 8, ExpTotals.joined(known, found.get(Convert.F64, pair + 8), most, sum));
        found.set(Convert.F64, pair, Math.max(known, most));
    }

    /** Finds the totals of all panels, cut into chunks: each at its first unit, in the workspace of worker 0. */
    public void findAll(CpuFrame frame) {
        frame.parallel(search, panels.units(), 1);
        frame.parallel(joining, panels.units() / panels.chunks(), 1);
    }

    private void search(CpuFrame frame, long from, long to, int worker) {
        for (long unit = from; unit < to; unit++) {
            find(frame.at(input), unit, frame.workspace(worker), frame.workspace(0), unit);
        }
    }

    /** Puts the totals of all chunks of panels to those of their first. */
    private void joinChunks(CpuFrame frame, long from, long to, int worker) {
        MemorySegment found = frame.workspace(0);
        for (long unit = from * panels.chunks(); unit < to * panels.chunks(); unit += panels.chunks()) {
            for (int chunk = 1; chunk < panels.chunks(); chunk++) {
                for (int j = 0; j < panels.columns(unit); j++) {
                    float most = most(found, unit + chunk, j);
                    join(found, pair(unit, j), most, sum(found, unit + chunk, j));
                }
            }
        }
    }

    /** The largest of a column; of no account where the sum is NaN. */
    public float most(MemorySegment found, long index, int column) {
        return (float) found.get(Convert.F64, pair(index, column));
    }

    public double sum(MemorySegment found, long index, int column) {
        return found.get(Convert.F64, pair(index, column) + 8);
    }
}
