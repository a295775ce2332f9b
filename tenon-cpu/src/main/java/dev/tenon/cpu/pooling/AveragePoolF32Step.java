package dev.tenon.cpu.pooling;

import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.window.WindowRowStep;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Average over windows of f32: a correlation with ones, divided by the cells that count. */
final class AveragePoolF32Step extends WindowRowStep {
    private final Loops loops = Loops.current();
    private final boolean countPadding;
    /** A row of the kernel, which serves all its rows. */
    private final Matrix ones;

    AveragePoolF32Step(Windows3 windows, boolean countPadding, Node node, CpuLoweringContext context) {
        super("rows", windows, node, context);
        this.countPadding = countPadding;
        MemorySegment row = Arena.ofAuto().allocate(4L * windows.width().kernel(), 64);
        loops.fill(row, 0, 1, windows.width().kernel());
        this.ones = new Matrix(row, 0, 0);
    }

    @Override
    public void begin(CpuFrame frame, long plane, MemorySegment target, long to) {
        loops.fill(target, to * 4, 0, windows.width().output());
    }

    @Override
    public void collect(CpuFrame frame, Cells cells, MemorySegment target, long to, int count) {
        rows.correlate(taps(cells), ones, target, to * 4, count);
    }

    @Override
    public void finish(CpuFrame frame, int startD, int startH, MemorySegment target, long to) {
        Windows3.Axis width = windows.width();
        int others =
                windows.depth().cells(startD, countPadding) * windows.height().cells(startH, countPadding);
        for (int position = 0; position < width.output(); position++) {
            int cells = others * width.cells(width.start(position), countPadding);
            long at = (to + position) * 4;
            target.set(Raw.F32, at, cells == 0 ? 0 : target.get(Raw.F32, at) / cells);
        }
    }
}
