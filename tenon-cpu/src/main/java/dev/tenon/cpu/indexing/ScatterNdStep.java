package dev.tenon.cpu.indexing;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.movement.CopyStep;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * Copies data, then combines slices of updates into it. The units are ranges of the target: each looks
 * through all tuples and takes what falls into it, so the updates of an element are in order whatever the number of
 * threads, without a sort.
 */
final class ScatterNdStep extends LoopStep {
    /** Looking through all tuples again must pay; short floats also need the range in workspace. */
    private static final long UNIT_ELEMENTS = 16 * 1024;

    private final CpuStep copy;
    private final Combiner combiner;
    private final Tuples tuples;
    private final boolean packed;
    private final long range;
    private final int places;
    private final int updates;
    private final int output;

    ScatterNdStep(ScatterNd op, Node node, CpuLoweringContext context) {
        Tuples tuples = new Tuples(node, 0);
        DType dtype = node.output().dtype();
        Combiner combiner = new Combiner(op.fn(), dtype);
        long range = Math.max(1, UNIT_ELEMENTS / Math.max(1, tuples.slice));
        boolean empty = tuples.count == 0 || tuples.slice == 0;
        super(
                combiner.isWide() ? "target ranges in f32 workspace" : "target ranges",
                empty ? 0 : Math.max(1, Math.ceilDiv(tuples.targets, range)),
                UNIT_ELEMENTS);
        this.copy = CopyStep.whole(node.input(0), node.output(), context);
        this.combiner = combiner;
        this.tuples = tuples;
        this.packed = Raw.isPacked(dtype);
        this.range = range;
        this.places = context.slot(node.input(1));
        this.updates = context.slot(node.input(2));
        this.output = context.slot(node.output());
    }

    @Override
    public long workspaceBytes() {
        return combiner.isWide() ? Math.min(range, tuples.targets) * tuples.slice * 4 : 0;
    }

    @Override
    public boolean isSerial() {
        return packed;
    }

    @Override
    public void run(CpuFrame frame) {
        copy.run(frame);
        super.run(frame);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment target = frame.at(output);
        if (!combiner.isWide()) {
            scan(frame, from * range, to * range, target, 0, false);
            return;
        }
        MemorySegment workspace = frame.workspace(worker);
        for (long unit = from; unit < to; unit++) {
            long first = unit * range;
            long last = Math.min(first + range, tuples.targets);
            long elements = (last - first) * tuples.slice;
            combiner.widen(target, first * tuples.slice, workspace, 0, elements);
            scan(frame, first, last, workspace, first, true);
            combiner.narrow(workspace, 0, target, first * tuples.slice, elements);
        }
    }

    /** Combines the updates of the targets [first, last) into memory whose first slice is that of {@code base}. */
    private void scan(CpuFrame frame, long first, long last, MemorySegment to, long base, boolean wide) {
        MemorySegment at = frame.at(places);
        MemorySegment source = frame.at(updates);
        long slice = tuples.slice;
        for (long tuple = 0; tuple < tuples.count; tuple++) {
            long target = tuples.target(at, tuple);
            if (target < first || target >= last) {
                continue;
            }
            if (wide) {
                combiner.applyWide(to, (target - base) * slice, source, tuple * slice, slice);
            } else {
                combiner.apply(to, (target - base) * slice, source, tuple * slice, slice);
            }
        }
    }
}
