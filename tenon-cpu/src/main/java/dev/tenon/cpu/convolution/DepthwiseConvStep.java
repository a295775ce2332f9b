package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.window.WindowRowStep;
import java.lang.foreign.MemorySegment;

/** Convolution of f32 where each channel has a filter of its own. */
final class DepthwiseConvStep extends WindowRowStep {
    private final ConvShape shape;
    private final ConvEpilogue epilogue;
    private final Loops loops = Loops.current();
    private final Filters weights;

    DepthwiseConvStep(ConvShape shape, ConvEpilogue epilogue, Node node, CpuLoweringContext context) {
        super("depthwise rows", shape.windows(), node, context);
        this.shape = shape;
        this.epilogue = epilogue;
        this.weights = new Filters(node.input(1), context);
    }

    @Override
    public void begin(CpuFrame frame, long plane, MemorySegment target, long to) {
        float start = epilogue.start(frame, plane % shape.groups());
        loops.fill(target, to * 4, start, windows.width().output());
    }

    @Override
    public void collect(CpuFrame frame, Cells cells, MemorySegment target, long to, int count) {
        long first = cells.plane() % shape.groups() * windows.cells() + cells.cell();
        Matrix filter =
                new Matrix(weights.of(frame), first * 4, 4L * windows.width().kernel());
        rows.correlate(taps(cells), filter, target, to * 4, count);
    }

    @Override
    public void finish(CpuFrame frame, int startD, int startH, MemorySegment target, long to) {
        epilogue.finish(frame, loops, target, to, windows.width().output());
    }
}
