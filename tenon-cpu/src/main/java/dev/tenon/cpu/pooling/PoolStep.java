package dev.tenon.cpu.pooling;

import dev.tenon.core.ir.Node;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/** The walk over windows that all pooling shares; a unit is one row of the output. */
abstract class PoolStep extends LoopStep {
    final Windows3 windows;
    private final int input;
    private final int output;

    PoolStep(String tier, Windows3 windows, Node node, CpuLoweringContext context) {
        long area = windows.outputArea();
        long planes = node.output().shape().elements(0, 2);
        super(
                tier,
                area == 0
                        ? 0
                        : planes * windows.depth().output() * windows.height().output(),
                (long) windows.width().output() * windows.cells());
        this.windows = windows;
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment source = frame.at(input);
        MemorySegment target = frame.at(output);
        Windows3.Axis depth = windows.depth();
        Windows3.Axis height = windows.height();
        for (long row = from; row < to; row++) {
            long rest = row / height.output();
            int startH = height.start((int) (row % height.output()));
            int startD = depth.start((int) (rest % depth.output()));
            long plane = rest / depth.output() * windows.inputArea();
            row(
                    frame,
                    source,
                    plane,
                    startD,
                    startH,
                    target,
                    row * windows.width().output());
        }
    }

    /**
     * One row of windows, which begin at {@code startD} and {@code startH} of the plane whose first element is
     * {@code plane}.
     */
    abstract void row(
            CpuFrame frame, MemorySegment source, long plane, int startD, int startH, MemorySegment target, long to);
}
