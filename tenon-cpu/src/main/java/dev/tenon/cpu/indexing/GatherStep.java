package dev.tenon.cpu.indexing;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/** Copies the slices that indices name; a unit is one slice. */
final class GatherStep extends LoopStep {
    private final DType dtype;
    private final Indices indices;
    private final int axis;
    private final long size;
    private final long count;
    private final long slice;
    private final int data;
    private final int places;
    private final int output;

    GatherStep(Gather op, Node node, CpuLoweringContext context) {
        Shape shape = node.input(0).shape();
        int axis = shape.axis(op.axis());
        long slice = shape.elements(axis + 1, shape.rank());
        super("slices", slice == 0 ? 0 : node.output().shape().elements() / slice, slice);
        this.dtype = node.output().dtype();
        this.indices = new Indices(node.input(1).dtype(), op.mnemonic(), node.name());
        this.axis = axis;
        this.size = shape.size(axis);
        this.count = node.input(1).shape().elements();
        this.slice = slice;
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
        long outer = from / count;
        long place = from % count;
        for (long unit = from; unit < to; unit++) {
            long index = indices.checked(at, place, size, axis);
            Raw.copyElements(dtype, source, (outer * size + index) * slice, target, unit * slice, slice);
            if (++place == count) {
                place = 0;
                outer++;
            }
        }
    }
}
