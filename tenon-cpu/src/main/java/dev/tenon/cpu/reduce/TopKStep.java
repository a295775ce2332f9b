package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Lanes;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * The first k of each lane in the order (value, index), which is total, so every k gives a prefix of the same answer. A
 * heap of the k best so far, worst on top, is then taken apart from the back: k and the lane's length may be anything.
 */
final class TopKStep extends LoopStep {
    private final DType dtype;
    private final Lanes lanes;
    private final long k;
    private final boolean largest;
    private final int input;
    private final int values;
    private final int indices;

    TopKStep(TopK op, Node node, CpuLoweringContext context) {
        Lanes lanes = new Lanes(node.input(0).shape(), op.axis());
        super("heap", op.k() == 0 ? 0 : lanes.count, lanes.size * 4);
        this.dtype = node.input(0).dtype();
        this.lanes = lanes;
        this.k = op.k();
        this.largest = op.largest();
        this.input = context.slot(node.input(0));
        this.values = context.slot(node.outputs().get(0));
        this.indices = context.slot(node.outputs().get(1));
    }

    @Override
    public long workspaceBytes() {
        return k * Heap.ENTRY;
    }

    @Override
    public boolean isSerial() {
        return Raw.isPacked(dtype);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment source = frame.at(input);
        MemorySegment heap = frame.workspace(worker);
        for (long lane = from; lane < to; lane++) {
            long first = lanes.first(lane, lanes.size);
            fill(heap, source, first);
            long target = lanes.first(lane, k);
            for (long size = k; size > 0; size--) {
                // the worst of those left
                long index = Heap.topIndex(heap);
                long at = target + (size - 1) * lanes.stride;
                frame.at(indices).set(Raw.I64, at * 8, index);
                long bits = Elements.bits(dtype, source, first + index * lanes.stride);
                Elements.setBits(dtype, frame.at(values), at, bits);
                Heap.removeTop(heap, size);
            }
        }
    }

    /** Makes a heap of the best k. */
    private void fill(MemorySegment heap, MemorySegment source, long first) {
        for (long i = 0; i < k; i++) {
            Heap.set(heap, i, key(source, first + i * lanes.stride), i);
        }
        Heap.make(heap, k);
        long worst = heap.get(Raw.I64, 0);
        for (long i = k; i < lanes.size; i++) {
            long key = key(source, first + i * lanes.stride);
            // an equal key loses: its index is higher than all in the heap
            if (key > worst) {
                Heap.sink(heap, 0, k, key, i);
                worst = heap.get(Raw.I64, 0);
            }
        }
    }

    private long key(MemorySegment source, long index) {
        long key = Order.key(dtype, source, index);
        return largest ? key : ~key;
    }
}
