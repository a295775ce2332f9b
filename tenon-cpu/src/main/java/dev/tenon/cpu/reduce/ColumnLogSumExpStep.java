package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.cpu.columns.ColumnPanels;
import dev.tenon.cpu.columns.ExpTotals;
import dev.tenon.cpu.columns.PanelTotals;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * The logarithm of the sum of exponentials of f32 and short floats over one axis that is not the last, in one pass.
 * Columns whose sum is no number are looked through again, for an infinity is a result.
 */
final class ColumnLogSumExpStep implements CpuStep {
    private final DType dtype;
    private final long size;
    private final int input;
    private final int output;
    private final ColumnPanels panels;
    private final PanelTotals totals;
    private final long workspaceBytes;
    private final RangeTask whole = this::whole;
    private final RangeTask finish = this::finish;

    ColumnLogSumExpStep(DType dtype, long outer, long size, long inner, int input, int output) {
        this.dtype = dtype;
        this.size = size;
        this.input = input;
        this.output = output;
        panels = ColumnPanels.once(outer, size, inner);
        Layout layout = new Layout();
        ExpTotals each = new ExpTotals(dtype, panels.columns() * panels.together(), layout);
        totals = new PanelTotals(panels, each, input, layout);
        workspaceBytes = layout.bytes();
    }

    @Override
    public void run(CpuFrame frame) {
        if (panels.chunks() == 1) {
            frame.parallel(whole, panels.units(), panels.grain());
            return;
        }
        totals.findAll(frame);
        frame.parallel(finish, panels.units() / panels.chunks(), 1);
    }

    private void finish(CpuFrame frame, long from, long to, int worker) {
        for (long unit = from * panels.chunks(); unit < to * panels.chunks(); unit += panels.chunks()) {
            write(frame, unit, frame.workspace(0), unit);
        }
    }

    private void whole(CpuFrame frame, long from, long to, int worker) {
        MemorySegment workspace = frame.workspace(worker);
        for (long unit = from; unit < to; unit++) {
            totals.find(frame.at(input), unit, workspace, workspace, 0);
            write(frame, unit, workspace, 0);
        }
    }

    /** The results of a panel, of which this is the first unit. */
    private void write(CpuFrame frame, long unit, MemorySegment found, long index) {
        long first = panels.first(unit);
        long inner = panels.inner();
        for (int j = 0; j < panels.columns(unit); j++) {
            double sum = totals.sum(found, index, j);
            double result = Double.isNaN(sum)
                    ? extreme(frame.at(input), first + j)
                    : totals.most(found, index, j) + Math.log(sum);
            long column = (first + j) % inner;
            Elements.setDouble(dtype, frame.at(output), (first + j) / inner / size * inner + column, result);
        }
    }

    /** What is left where a sum is no number: NaN, or the infinity that is the largest. */
    private double extreme(MemorySegment x, long first) {
        double most = Fold.start(ReduceFn.MAX);
        for (long i = 0; i < size; i++) {
            most = Math.max(most, Elements.getDouble(dtype, x, first + i * panels.inner()));
        }
        return Double.isInfinite(most) ? most : Double.NaN;
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
