package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.cpu.keys.KeyLoops;
import dev.tenon.cpu.keys.Keys;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Lanes;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * Where the extreme of each lane is, of lanes that lie in order. Blocks give their extreme, and only the block that has
 * the lane's is looked through. Workers share long lanes: the pieces do not depend on the number of workers.
 */
final class ArgRowStep implements CpuStep, RangeTask {
    private static final int BLOCKS = KeyLoops.BLOCKS;
    private static final long BLOCK_BYTES = 16 << 10;

    /** Elements that are left after blocks and worth blocks of their own. */
    private static final long LEAST = 64;

    /** Of lanes that workers share, and the most of such lanes. */
    private static final long PIECE_BYTES = 8 * BLOCKS * BLOCK_BYTES;

    private static final long FEW_LANES = 16;

    private final Keys keys;
    private final Lanes lanes;
    private final boolean last;
    private final long block;
    private final long piece;
    private final long pieces;
    private final int input;
    private final int output;
    private final RangeTask part = this::part;

    ArgRowStep(ArgReduce op, Node node, CpuLoweringContext context) {
        this.keys = Keys.ofExtremes(node.input(0).dtype(), op.max());
        this.lanes = new Lanes(node.input(0).shape(), op.axis());
        this.last = op.last();
        this.block = BLOCK_BYTES / keys.width();
        this.piece = PIECE_BYTES / keys.width();
        this.pieces = lanes.count <= FEW_LANES ? Math.ceilDiv(lanes.size, piece) : 1;
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
    }

    @Override
    public String tier() {
        return "rows";
    }

    /** What blocks gave, then what the pieces of all lanes did. */
    @Override
    public long workspaceBytes() {
        long shared = pieces > 1 ? SizeMath.product("arg_reduce", Best.BYTES, lanes.count, pieces) : Best.BYTES;
        return SizeMath.sum("arg_reduce", KeyLoops.FOUND_BYTES, shared);
    }

    @Override
    public void run(CpuFrame frame) {
        if (lanes.count == 0) {
            return;
        }
        if (pieces == 1) {
            frame.parallel(this, lanes.count, LoopStep.grain(lanes.size));
            return;
        }
        frame.parallel(part, lanes.count * pieces, 1);
        Best best = new Best(frame.workspace(0), last);
        for (long lane = 0; lane < lanes.count; lane++) {
            long at = Best.at(lane * pieces);
            for (long i = 1; i < pieces; i++) {
                best.join(at, Best.at(lane * pieces + i));
            }
            frame.at(output).set(Raw.I64, 8 * lane, best.index(at));
        }
    }

    private void part(CpuFrame frame, long from, long to, int worker) {
        for (long unit = from; unit < to; unit++) {
            long begin = unit % pieces * piece;
            long first = unit / pieces * lanes.size + begin;
            long n = Math.min(piece, lanes.size - begin);
            Best best = new Best(frame.workspace(0), last);
            long at = Best.at(unit);
            best.clear(at, keys);
            long index = scan(frame.at(input), first, n, best, at, frame.workspace(worker));
            best.set(at, best.key(at), begin + index);
        }
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment workspace = frame.workspace(worker);
        long apart = lanes.size <= block ? (to - from) / BLOCKS : 0;
        for (long lane = from; lane < from + apart; lane++) {
            int n = (int) lanes.size;
            KeyLoops.largest(keys, x, lane * n, n, apart * n, workspace, 0);
            for (int i = 0; i < BLOCKS; i++) {
                long one = lane + i * apart;
                long best = workspace.get(Raw.I64, 8L * i);
                y.set(Raw.I64, 8 * one, KeyLoops.find(keys, x, one * n, n, best, last));
            }
        }
        Best best = new Best(workspace, last);
        for (long lane = from + apart * BLOCKS; lane < to; lane++) {
            best.clear(Best.at(0), keys);
            long index = scan(x, lane * lanes.size, lanes.size, best, Best.at(0), workspace);
            y.set(Raw.I64, 8 * lane, index);
        }
    }

    /**
     * Finds which of so many elements is the best.
     *
     * @param at where the best is kept: afterwards its key and the first element of its block
     */
    private long scan(MemorySegment x, long first, long size, Best best, long at, MemorySegment found) {
        long done = 0;
        long wide = 1;
        while (size - done >= BLOCKS * Math.min(block, LEAST)) {
            int n = (int) Math.min(block, (size - done) / BLOCKS);
            KeyLoops.largest(keys, x, first + done, n, n, found, 0);
            for (int i = 0; i < BLOCKS; i++) {
                if (best.take(at, found.get(Raw.I64, 8L * i), done + (long) i * n)) {
                    wide = n;
                }
            }
            done += (long) BLOCKS * n;
        }
        for (; done < size; done++) {
            if (best.take(at, keys.key(x, first + done), done)) {
                wide = 1;
            }
        }
        long begin = best.index(at);
        return begin + KeyLoops.find(keys, x, first + begin, (int) wide, best.key(at), last);
    }
}
