package dev.tenon.cpu.pooling;

import dev.tenon.core.ir.Node;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.window.WindowPlaneStep;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/** Maximum over windows of f32, on planes that fit the caches. */
final class MaxPoolPlaneStep extends WindowPlaneStep {
    MaxPoolPlaneStep(Windows3 windows, Node node, CpuLoweringContext context) {
        super("planes", windows, Float.NEGATIVE_INFINITY, node, context);
    }

    @Override
    protected void collect(CpuFrame frame, long number, MemorySegment memory) {
        loops.maximum(memory, taps, plane.resultsAt(), plane.length());
    }

    @Override
    protected void finish(CpuFrame frame, MemorySegment target, long to, int count) {}
}
