package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Lanes;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/** Where the extreme of each lane is. */
final class ArgReduceStep extends LoopStep {
    private final DType dtype;
    private final Lanes lanes;
    private final boolean max;
    private final boolean last;
    private final int input;
    private final int output;

    ArgReduceStep(ArgReduce op, Node node, CpuLoweringContext context) {
        Lanes lanes = new Lanes(node.input(0).shape(), op.axis());
        super("lanes", lanes.count, lanes.size);
        this.dtype = node.input(0).dtype();
        this.lanes = lanes;
        this.max = op.max();
        this.last = op.last();
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment source = frame.at(input);
        MemorySegment target = frame.at(output);
        for (long lane = from; lane < to; lane++) {
            long first = lanes.first(lane, lanes.size);
            long best = 0;
            long bestKey = key(source, first);
            for (long i = 1; i < lanes.size; i++) {
                long key = key(source, first + i * lanes.stride);
                if (key > bestKey || (last && key == bestKey)) {
                    best = i;
                    bestKey = key;
                }
            }
            target.set(Raw.I64, lane * 8, best);
        }
    }

    /** Larger wins; NaN wins of the smallest too. */
    private long key(MemorySegment source, long index) {
        long key = Order.key(dtype, source, index);
        return max || (dtype.isFloat() && key == Long.MAX_VALUE) ? key : ~key;
    }
}
