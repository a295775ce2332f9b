package dev.tenon.cpu.pooling;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.window.WindowPlaneStep;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Average over windows of f32, on planes that fit the caches: sums, divided by the cells that count. */
final class AveragePoolPlaneStep extends WindowPlaneStep {
    private final Loops dividing = Loops.current();
    private final MemorySegment ones;
    /** By position. */
    private final MemorySegment cells;

    AveragePoolPlaneStep(Windows3 windows, boolean countPadding, Node node, CpuLoweringContext context) {
        super("planes", windows, 0, node, context);
        this.ones = Arena.ofAuto().allocate(4L * windows.cells(), 64);
        dividing.fill(ones, 0, 1, windows.cells());
        this.cells = Arena.ofAuto().allocate(4 * windows.outputArea(), 64);
        Windows3.Axis height = windows.height();
        Windows3.Axis width = windows.width();
        for (int line = 0; line < height.output(); line++) {
            int down = height.cells(height.start(line), countPadding);
            for (int position = 0; position < width.output(); position++) {
                int counted = down * width.cells(width.start(position), countPadding);
                // a window that has none is 0
                cells.set(Raw.F32, 4L * (line * (long) width.output() + position), Math.max(1, counted));
            }
        }
    }

    @Override
    protected void collect(CpuFrame frame, long number, MemorySegment memory) {
        loops.correlate(memory, taps, ones, 0, 0, plane.resultsAt(), plane.length());
    }

    @Override
    protected void finish(CpuFrame frame, MemorySegment target, long to, int count) {
        dividing.binary(BinaryFn.DIV, target, to * 4, cells, 0, target, to * 4, count);
    }
}
