package dev.tenon.cpu.pooling;

import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.window.WindowRowStep;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/** Maximum over windows of f32. */
final class MaxPoolF32Step extends WindowRowStep {
    private final Loops loops = Loops.current();

    MaxPoolF32Step(Windows3 windows, Node node, CpuLoweringContext context) {
        super("rows", windows, node, context);
    }

    @Override
    public void begin(CpuFrame frame, long plane, MemorySegment target, long to) {
        loops.fill(target, to * 4, Float.NEGATIVE_INFINITY, windows.width().output());
    }

    @Override
    public void collect(CpuFrame frame, Cells cells, MemorySegment target, long to, int count) {
        rows.maximum(taps(cells), target, to * 4, count);
    }

    @Override
    public void finish(CpuFrame frame, int startD, int startH, MemorySegment target, long to) {}
}
