package dev.tenon.cpu.pooling;

import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.Kernels;
import dev.tenon.cpu.step.Frame;
import dev.tenon.cpu.step.LoweringContext;
import dev.tenon.cpu.window.WindowRowStep;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/** Maximum over windows of f32. */
final class MaxPoolF32Step extends WindowRowStep {
    private final Kernels kernels = Kernels.current();

    MaxPoolF32Step(Windows3 windows, Node node, LoweringContext context) {
        super("rows", windows, node, context);
    }

    @Override
    public void begin(Frame frame, long plane, MemorySegment target, long to) {
        kernels.fill(target, to * 4, Float.NEGATIVE_INFINITY, windows.width().output());
    }

    @Override
    public void collect(
            Frame frame,
            long plane,
            MemorySegment source,
            long from,
            int lines,
            long step,
            int cell,
            int taps,
            MemorySegment target,
            long to,
            int count) {
        Windows3.Axis width = windows.width();
        rows.maximum(source, from * 4, lines, step * 4, taps, width.dilation(), width.stride(), target, to * 4, count);
    }

    @Override
    public void finish(Frame frame, int startD, int startH, MemorySegment target, long to) {}
}
