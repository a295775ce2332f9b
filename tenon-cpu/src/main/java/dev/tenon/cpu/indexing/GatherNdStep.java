package dev.tenon.cpu.indexing;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/** Copies the slices that index tuples name; a unit is one slice. */
final class GatherNdStep extends LoopStep {
    private final DType dtype;
    private final Tuples tuples;
    private final int data;
    private final int places;
    private final int output;

    GatherNdStep(GatherNd op, Node node, CpuLoweringContext context) {
        Tuples tuples = new Tuples(node, op.batchDims());
        super("slices", tuples.slice == 0 ? 0 : tuples.count, tuples.slice);
        this.dtype = node.output().dtype();
        this.tuples = tuples;
        this.data = context.slot(node.input(0));
        this.places = context.slot(node.input(1));
        this.output = context.slot(node.output());
    }

    @Override
    public boolean isSerial() {
        return Raw.isPacked(dtype);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment source = frame.at(data);
        MemorySegment at = frame.at(places);
        MemorySegment target = frame.at(output);
        for (long unit = from; unit < to; unit++) {
            long index = tuples.target(at, unit) * tuples.slice;
            Raw.copyElements(dtype, source, index, target, unit * tuples.slice, tuples.slice);
        }
    }
}
