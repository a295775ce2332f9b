package dev.tenon.cpu.indexing;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/** Reads element by element, each with an index of its own along one axis; a unit is a row of the last dim. */
final class GatherElementsStep extends LoopStep {
    private final DType dtype;
    private final Indices indices;
    private final int axis;
    private final long[] sizes;
    private final long[] strides;
    private final long size;
    private final long along;
    private final int data;
    private final int places;
    private final int output;

    GatherElementsStep(GatherElements op, Node node, CpuLoweringContext context) {
        Shape shape = node.output().shape();
        int rank = shape.rank();
        super("rows", shape.elements() == 0 ? 0 : shape.elements(0, rank - 1), shape.size(rank - 1));
        Shape from = node.input(0).shape();
        this.dtype = node.output().dtype();
        this.indices = new Indices(node.input(1).dtype(), op.mnemonic(), node.name());
        this.axis = from.axis(op.axis());
        this.sizes = shape.sizes();
        this.strides = from.strides();
        this.size = from.size(axis);
        this.along = strides[axis];
        strides[axis] = 0;
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
        int last = sizes.length - 1;
        for (long row = from; row < to; row++) {
            long base = 0;
            long rest = row;
            for (int i = last - 1; i >= 0; i--) {
                base += rest % sizes[i] * strides[i];
                rest /= sizes[i];
            }
            for (long i = 0; i < sizes[last]; i++) {
                long unit = row * sizes[last] + i;
                long index = base + i * strides[last] + indices.checked(at, unit, size, axis) * along;
                Raw.copyElements(dtype, source, index, target, unit, 1);
            }
        }
    }
}
