package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.convolution.FiniteWeights;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.window.PaddedPlane;
import dev.tenon.cpu.window.WindowPlaneStep;
import java.lang.foreign.MemorySegment;

/** Convolution of f32 where each channel has a filter of its own, on planes that fit the caches. */
final class DepthwisePlaneStep extends WindowPlaneStep {
    private final ConvShape shape;
    private final ConvEpilogue epilogue;
    private final Loops finishing = Loops.current();
    private final Filters weights;

    DepthwisePlaneStep(ConvShape shape, ConvEpilogue epilogue, Node node, CpuLoweringContext context) {
        super("depthwise planes", shape.windows(), 0, node, context);
        this.shape = shape;
        this.epilogue = epilogue;
        this.weights = new Filters(node.input(1), context);
    }

    /** Zeros in the padding make no NaN of finite weights. */
    static boolean suits(ConvShape shape, Node node) {
        return PaddedPlane.suits(shape.windows()) && FiniteWeights.isFinite(node.input(1));
    }

    @Override
    protected void collect(CpuFrame frame, long number, MemorySegment memory) {
        long channel = number % shape.groups();
        long filter = channel * shape.windows().cells() * 4;
        float start = epilogue.start(frame, channel);
        loops.correlate(memory, taps, weights.of(frame), filter, start, plane.resultsAt(), plane.length());
    }

    @Override
    protected void finish(CpuFrame frame, MemorySegment target, long to, int count) {
        epilogue.finish(frame, finishing, target, to, count);
    }
}
