package dev.tenon.cpu.window;

import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.WindowLoops;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/** Windows over the planes of f32, a plane at a time, each in {@link PaddedPlane}. */
public abstract class WindowPlaneStep extends LoopStep {
    protected final PaddedPlane plane;
    /** {@link PaddedPlane#taps}. */
    protected final int[] taps;

    protected final WindowLoops loops = WindowLoops.current();
    private final Windows3 windows;
    private final int input;
    private final int output;

    /** @param padding what cells in the padding count as */
    protected WindowPlaneStep(String tier, Windows3 windows, float padding, Node node, CpuLoweringContext context) {
        super(
                tier + ", " + WindowLoops.current().tier(),
                node.output().shape().elements(0, 2),
                windows.inputArea() / 2 + windows.outputArea() * (2 + windows.cells()) / 8);
        this.windows = windows;
        this.plane = new PaddedPlane(windows, padding);
        this.taps = plane.taps();
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
    }

    /** Makes {@link PaddedPlane#length} results, from {@link PaddedPlane#resultsAt} on, of the cells before. */
    protected abstract void collect(CpuFrame frame, long number, MemorySegment memory);

    /** What is left to do to the plane's results, which are elements from {@code to} on. */
    protected abstract void finish(CpuFrame frame, MemorySegment target, long to, int count);

    @Override
    public final void run(CpuFrame frame, long from, long end, int worker) {
        MemorySegment memory = frame.workspace(worker);
        MemorySegment source = frame.at(input);
        MemorySegment target = frame.at(output);
        int area = (int) windows.outputArea();
        plane.clear(memory);
        for (long number = from; number < end; number++) {
            plane.load(source, number * windows.inputArea(), memory);
            collect(frame, number, memory);
            long to = number * area;
            plane.store(memory, target, to);
            finish(frame, target, to, area);
        }
    }

    @Override
    public final long workspaceBytes() {
        return plane.bytes();
    }
}
