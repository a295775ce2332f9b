package dev.tenon.cpu.norm;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.columns.ColumnLoops;
import dev.tenon.cpu.columns.ColumnPanels;
import dev.tenon.cpu.columns.ExpTotals;
import dev.tenon.cpu.columns.PanelTotals;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.StridedCopy;
import dev.tenon.cpu.machine.ColumnKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * Softmax or its logarithm of f32 and short floats over an axis that is not the last. A panel of columns that stays in
 * a cache is read once for its totals and then written. Where no panel does, x is read twice; a few large slabs are cut
 * into chunks of rows for the workers, which do not depend on their number.
 */
final class ColumnSoftmaxStep implements CpuStep {
    private static final Unary LOG = Unary.of(UnaryFn.LOG);

    private final DType dtype;
    private final long size;
    private final boolean log;
    private final int input;
    private final int output;
    private final ColumnPanels panels;
    private final boolean stream;
    private final ExpTotals totals;
    private final int rowsAtOnce;
    private final long stagedAt;
    private final long resultAt;
    private final PanelTotals found;

    private final boolean kept;
    /** Exponentials of a panel. */
    private final long keptAt;

    private final long workspaceBytes;
    private final RangeTask whole = this::whole;
    private final RangeTask finish = this::finish;

    ColumnSoftmaxStep(DType dtype, long outer, long size, long inner, boolean log, int input, int output) {
        this.dtype = dtype;
        this.size = size;
        this.log = log;
        this.input = input;
        this.output = output;
        boolean once = dtype == DType.F32 && !log;
        panels = ColumnPanels.of(outer, size, inner, once);
        stream = SizeMath.product("softmax", outer, size, inner, dtype.bytes()) >= StridedCopy.STREAM_BYTES;
        Layout layout = new Layout();
        int most = panels.columns() * panels.together();
        totals = new ExpTotals(dtype, most, layout);
        found = new PanelTotals(panels, totals, input, layout);
        rowsAtOnce = dtype == DType.F32 ? 1 << 20 : 1;
        stagedAt = layout.take(dtype == DType.F32 ? 0 : 4L * most);
        resultAt = layout.take(dtype == DType.F32 ? 0 : 4L * most);
        // sums of a column stay f32 there, a panel's few thousand
        kept = once && panels.together() == 1 && panels.isCached();
        keptAt = layout.take(kept ? ColumnKernel.keptBytes((int) size, most) : 0);
        workspaceBytes = layout.bytes();
    }

    @Override
    public void run(CpuFrame frame) {
        if (panels.chunks() == 1) {
            frame.parallel(whole, panels.units(), panels.grain());
            return;
        }
        found.findAll(frame);
        frame.parallel(finish, panels.units(), 1);
    }

    /** Panels from their totals to their results. */
    private void whole(CpuFrame frame, long from, long to, int worker) {
        MemorySegment workspace = frame.workspace(worker);
        for (long unit = from; unit < to; unit++) {
            if (kept && keep(frame, unit, workspace)) {
                continue;
            }
            if (panels.together() == 1 && size <= ExpTotals.BLOCK) {
                int n = panels.columns(unit);
                totals.takeBlock(found.rows(frame.at(input), unit, 1, 0), (int) size, workspace);
                factors(n, workspace);
                write(frame, unit, worker);
            } else {
                found.find(frame.at(input), unit, workspace, workspace, 0);
                spread(unit, workspace, 0, workspace);
                write(frame, unit, worker);
            }
        }
    }

    /** A panel of which each exponential is computed once, where machine code does that; returns whether it did. */
    private boolean keep(CpuFrame frame, long unit, MemorySegment workspace) {
        ExpTotals.Rows x = found.rows(frame.at(input), unit, 1, 0);
        ColumnKernel.Form form = new ColumnKernel.Form((int) size, x.n(), false, stream);
        Matrix given = new Matrix(x.memory(), 4 * x.first(), 4 * x.stride());
        Matrix result = new Matrix(frame.at(output), 4 * x.first(), 4 * x.stride());
        if (ColumnLoops.few(form, given, result)) {
            return true;
        }
        totals.begin(x.n(), workspace);
        Place place = new Place(workspace, keptAt);
        return ColumnLoops.softmax(form, given, place, totals.largest(workspace), totals.sums(workspace), result);
    }

    /** Sums become what is multiplied or taken off. */
    private void factors(int n, MemorySegment workspace) {
        Place sums = totals.sums(workspace);
        if (log) {
            Loops.current().unary(LOG, workspace, sums.offset(), workspace, sums.offset(), n);
        } else {
            ColumnLoops.reciprocals(n, sums);
        }
    }

    private void finish(CpuFrame frame, long from, long to, int worker) {
        for (long i = from; i < to; i++) {
            // the rows that were read last are in a cache yet
            long unit = panels.units() - 1 - i;
            long first = unit / panels.chunks() * panels.chunks();
            spread(unit, frame.workspace(0), first, frame.workspace(worker));
            write(frame, unit, worker);
        }
    }

    /** Lays out what each column of a unit is written with, for all rows that are taken together. */
    private void spread(long unit, MemorySegment memory, long index, MemorySegment workspace) {
        int n = panels.columns(unit);
        Place largest = totals.largest(workspace);
        Place factors = totals.sums(workspace);
        for (int j = 0; j < n * panels.together(); j++) {
            double sum = found.sum(memory, index, j % n);
            workspace.set(Loops.F32, largest.offset() + 4L * j, found.most(memory, index, j % n));
            workspace.set(Loops.F32, factors.offset() + 4L * j, (float) (log ? Math.log(sum) : 1 / sum));
        }
    }

    private void write(CpuFrame frame, long unit, int worker) {
        long rows = panels.rows(unit);
        int together = panels.together();
        long wide = rows / together;
        write(frame, found.rows(frame.at(input), unit, together, 0), wide, worker);
        write(frame, found.rows(frame.at(input), unit, 1, wide * together), rows - wide * together, worker);
    }

    private void write(CpuFrame frame, ExpTotals.Rows x, long count, int worker) {
        MemorySegment workspace = frame.workspace(worker);
        MemorySegment y = frame.at(output);
        boolean direct = dtype == DType.F32;
        for (long row = 0; row < count; row += rowsAtOnce) {
            int taken = (int) Math.min(rowsAtOnce, count - row);
            long first = x.first() + row * x.stride();
            ColumnKernel.Form form = new ColumnKernel.Form(taken, x.n(), log, stream && direct);
            MemorySegment from = FloatRows.segment(dtype, x.memory(), first, x.n(), workspace, stagedAt);
            Matrix given = new Matrix(from, FloatRows.offset(dtype, first, stagedAt), 4 * x.stride());
            Matrix result = direct ? new Matrix(y, 4 * first, 4 * x.stride()) : new Matrix(workspace, resultAt, 0);
            ColumnLoops.write(form, given, totals.largest(workspace), totals.sums(workspace), result);
            if (!direct) {
                Convert.store(dtype, workspace, resultAt, y, first, x.n());
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
