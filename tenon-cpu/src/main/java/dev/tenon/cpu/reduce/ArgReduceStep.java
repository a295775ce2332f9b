package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.cpu.keys.KeyLoops;
import dev.tenon.cpu.keys.Keys;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.StridedCopy;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Lanes;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Where the extreme of each lane is: of lanes that lie side by side, or have elements of less than a byte. */
final class ArgReduceStep extends LoopStep {
    /** Of lanes that are worked on as lines, and how many of their rows. */
    private static final int LINES_BYTES = 256;

    private static final int LINE_ROWS = 256;
    private static final long LINES_AT = Best.at(LINES_BYTES);

    private final DType dtype;
    private final Lanes lanes;
    /** Null of elements of less than a byte. */
    private final @Nullable Keys keys;

    private final boolean max;
    private final boolean last;
    private final int input;
    private final int output;

    ArgReduceStep(ArgReduce op, Node node, CpuLoweringContext context) {
        Lanes lanes = new Lanes(node.input(0).shape(), op.axis());
        super("lanes", lanes.count, lanes.size);
        this.dtype = node.input(0).dtype();
        this.lanes = lanes;
        this.keys = Keys.has(dtype) ? Keys.ofExtremes(dtype, op.max()) : null;
        this.max = op.max();
        this.last = op.last();
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment source = frame.at(input);
        MemorySegment target = frame.at(output);
        if (keys != null) {
            for (long lane = from; lane < to; ) {
                int n = (int)
                        Math.min(Math.min(LINES_BYTES / keys.width(), to - lane), lanes.stride - lane % lanes.stride);
                lines(keys, frame, lane, n, frame.workspace(worker));
                lane += n;
            }
            return;
        }
        for (long lane = from; lane < to; lane++) {
            long first = lanes.first(lane, lanes.size);
            target.set(Raw.I64, lane * 8, inLane(source, first));
        }
    }

    /** Lanes side by side as lines, so many rows at a time. */
    private void lines(Keys known, CpuFrame frame, long lane, int n, MemorySegment workspace) {
        MemorySegment lines = workspace.asSlice(LINES_AT, (long) LINES_BYTES * LINE_ROWS);
        long first = lanes.first(lane, lanes.size);
        Best best = new Best(workspace, last);
        for (int j = 0; j < n; j++) {
            best.clear(Best.at(j), known);
        }
        for (long row = 0; row < lanes.size; row += LINE_ROWS) {
            int rows = (int) Math.min(LINE_ROWS, lanes.size - row);
            StridedCopy.turn(dtype, frame.at(input), first + row * lanes.stride, lanes.stride, rows, n, lines);
            for (int j = 0; j < n; j++) {
                if (j % KeyLoops.BLOCKS == 0) {
                    KeyLoops.largest(known, lines, (long) j * rows, rows, rows, workspace, 0);
                }
                long key = workspace.get(Raw.I64, 8L * (j % KeyLoops.BLOCKS));
                if (best.take(Best.at(j), key, row)) {
                    best.set(Best.at(j), key, row + KeyLoops.find(known, lines, (long) j * rows, rows, key, last));
                }
            }
        }
        for (int j = 0; j < n; j++) {
            frame.at(output).set(Raw.I64, 8 * (lane + j), best.index(Best.at(j)));
        }
    }

    @Override
    protected long leastUnits() {
        return Math.min(lanes.stride, 8L * LINES_BYTES / dtype.bits());
    }

    @Override
    public long workspaceBytes() {
        return keys == null ? 0 : LINES_AT + (long) LINES_BYTES * LINE_ROWS;
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

    /** Larger wins; NaN wins of the smallest too. */
    private long key(MemorySegment source, long index) {
        long key = Order.key(dtype, source, index);
        return max || (dtype.isFloat() && key == Long.MAX_VALUE) ? key : ~key;
    }
}
