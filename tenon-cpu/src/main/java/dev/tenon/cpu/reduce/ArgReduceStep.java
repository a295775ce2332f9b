package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Lanes;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * Where the extreme of each lane is. In long lanes of f32 that lie in order, only blocks whose extreme is better than
 * those before are looked through.
 */
final class ArgReduceStep extends LoopStep {
    private static final int BLOCK = FloatRows.BLOCK;

    /** Elements of a lane that are worth blocks. */
    private static final int LEAST = 128;

    private final DType dtype;
    private final Lanes lanes;
    private final boolean blocks;
    private final boolean max;
    private final boolean last;
    private final int input;
    private final int output;

    ArgReduceStep(ArgReduce op, Node node, CpuLoweringContext context) {
        Lanes lanes = new Lanes(node.input(0).shape(), op.axis());
        super("lanes", lanes.count, lanes.size);
        this.dtype = node.input(0).dtype();
        this.lanes = lanes;
        this.blocks = dtype == DType.F32 && lanes.stride == 1 && lanes.size >= LEAST;
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
            target.set(Raw.I64, lane * 8, blocks ? inBlocks(source, first) : inLane(source, first));
        }
    }

    private long inLane(MemorySegment source, long first) {
        long best = 0;
        long bestKey = key(source, first);
        for (long i = 1; i < lanes.size; i++) {
            long key = key(source, first + i * lanes.stride);
            if (key > bestKey || (last && key == bestKey)) {
                best = i;
                bestKey = key;
            }
        }
        return best;
    }

    private long inBlocks(MemorySegment source, long first) {
        Loops loops = Loops.current();
        long best = 0;
        float known = max ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY;
        for (long at = 0; at < lanes.size; at += BLOCK) {
            int n = (int) Math.min(BLOCK, lanes.size - at);
            float extreme = max ? loops.max(source, 4 * (first + at), n) : loops.min(source, 4 * (first + at), n);
            boolean better = Float.isNaN(extreme) ? !Float.isNaN(known) : max ? extreme > known : extreme < known;
            boolean equal = extreme == known || (Float.isNaN(extreme) && Float.isNaN(known));
            if (at == 0 || better || (equal && last)) {
                best = at + find(source, first + at, n, extreme);
                known = extreme;
            }
        }
        return best;
    }

    /** The first of n elements that is that value, or the last one. */
    private int find(MemorySegment source, long first, int n, float value) {
        boolean number = !Float.isNaN(value);
        for (int i = 0; i < n; i++) {
            int at = last ? n - 1 - i : i;
            float element = source.get(Raw.F32, 4 * (first + at));
            if (number ? element == value : Float.isNaN(element)) {
                return at;
            }
        }
        throw new IllegalStateException("no element of " + n + " equals their extreme");
    }

    /** Larger wins; NaN wins of the smallest too. */
    private long key(MemorySegment source, long index) {
        long key = Order.key(dtype, source, index);
        return max || (dtype.isFloat() && key == Long.MAX_VALUE) ? key : ~key;
    }
}
