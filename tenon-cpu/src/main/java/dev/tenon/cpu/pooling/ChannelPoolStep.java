package dev.tenon.cpu.pooling;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.window.ChannelRowStep;
import dev.tenon.cpu.window.ChannelWindow;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/** Maximum or average of f32 over windows that have one cell along the last dim: its elements are channels. */
final class ChannelPoolStep extends ChannelRowStep {
    /** Fewer elements along the last dim leave vectors empty. */
    private static final int LEAST = 8;

    private final boolean maximum;
    private final boolean countPadding;

    ChannelPoolStep(Pool op, Windows3 windows, Node node, CpuLoweringContext context) {
        super(
                "rows of channels",
                windows.acrossLast(),
                node.output().shape().elements(0, 2),
                windows.width().output(),
                node,
                context);
        this.maximum = op.fn() == PoolFn.MAX;
        this.countPadding = op.countPadding();
    }

    static boolean suits(Pool op, Windows3 windows) {
        return (op.fn() == PoolFn.MAX || op.fn() == PoolFn.AVERAGE)
                && windows.width().isPointwise()
                && windows.width().output() >= LEAST
                && windows.height().kernel() > 0;
    }

    @Override
    protected void collect(
            CpuFrame frame, ChannelWindow cells, Position place, MemorySegment target, long to, int positions) {
        Place y = new Place(target, to * 4);
        if (maximum) {
            loops.maximum(cells, y, positions, channels);
            return;
        }
        int counted = windows.height().cells(place.startH(), countPadding)
                * windows.width().cells(place.startW(), countPadding);
        loops.average(cells, Math.max(1, counted), y, positions, channels);
    }

    @Override
    protected void finish(CpuFrame frame, MemorySegment target, long to, int count) {}
}
