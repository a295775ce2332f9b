package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.cpu.keys.KeyLoops;
import dev.tenon.cpu.keys.Keys;
import dev.tenon.cpu.loops.MachineLoops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.loops.StridedCopy;
import dev.tenon.cpu.machine.LaneKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Lanes;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The first k of each lane in the order (value, index), which is total, so every k gives a prefix of the same answer. A
 * heap of the k best so far, worst on top, is then taken apart from the back: k and the lane's length may be anything.
 * The best few of lanes of f32 side by side are found row by row, where machine code runs.
 */
final class TopKStep extends LoopStep {
    /** Of lanes side by side that are worked on as lines: a line of a cache. */
    private static final int GATHERED_BYTES = 64;

    /** Lanes of f32 side by side whose best are found row by row. */
    private static final int PANEL = 256;

    /** Of such a lane. */
    private static final long MOST_ELEMENTS = 1 << 16;

    /** Of lanes that workers share, and the most of such lanes, and of their best. */
    private static final long PIECE_BYTES = 1 << 20;

    private static final long FEW_LANES = 16;
    private static final long MOST_SHARED = 4096;

    /** Of the heaps of all pieces: every worker's workspace is as large as the one that has them. */
    private static final long SHARED_BYTES = 4 << 20;

    private final DType dtype;
    private final Lanes lanes;
    private final long k;
    private final boolean largest;
    /** Null of elements of less than a byte. */
    private final @Nullable Keys keys;

    private final boolean gathered;
    private final boolean few;
    /** Of each lane, and how many elements they have; the last may have fewer. */
    private final long pieces;

    private final long piece;
    private final RangeTask part = this::part;
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
        this.keys = Keys.has(dtype) ? Keys.ofOrder(dtype, largest) : null;
        this.gathered = lanes.stride > 1 && !Raw.isPacked(dtype) && lanes.size <= MOST_ELEMENTS;
        boolean fewBest = k > 0 && k <= LaneKernel.MOST_BEST && lanes.size <= Integer.MAX_VALUE;
        this.few = dtype == DType.F32 && fewBest && lanes.stride >= LaneKernel.LANES;
        boolean shared = keys != null && lanes.stride == 1 && lanes.count <= FEW_LANES && k > 0 && k <= MOST_SHARED;
        this.pieces = shared ? pieces() : 1;
        this.piece = Math.ceilDiv(lanes.size, pieces);
        this.input = context.slot(node.input(0));
        this.values = context.slot(node.outputs().get(0));
        this.indices = context.slot(node.outputs().get(1));
    }

    private long pieces() {
        long most = SHARED_BYTES / heapBytes() / Math.max(1, lanes.count);
        return Math.max(1, Math.min(most, lanes.size / (PIECE_BYTES / dtype.bytes())));
    }

    @Override
    public long workspaceBytes() {
        return SizeMath.sum("top-k", heapBytes(), KeyLoops.FOUND_BYTES, gatheredBytes(), foundBytes(), sharedBytes());
    }

    /** The heaps of all pieces, in the workspace of worker 0. */
    private long sharedBytes() {
        return pieces > 1 ? SizeMath.product("top-k", heapBytes(), pieces, lanes.count) : 0;
    }

    private long gatheredBytes() {
        return gathered ? SizeMath.product("top-k", GATHERED_BYTES, lanes.size) : 0;
    }

    private long foundBytes() {
        return few ? 8 * k * PANEL : 0;
    }

    private long heapBytes() {
        return Math.ceilDiv(k * Heap.ENTRY, 64L) * 64;
    }

    private long linesAt() {
        return heapBytes() + KeyLoops.FOUND_BYTES;
    }

    @Override
    protected long leastUnits() {
        return few
                ? Math.min(lanes.stride, PANEL)
                : gathered ? Math.min(lanes.stride, GATHERED_BYTES / dtype.bytes()) : 1;
    }

    @Override
    public boolean isSerial() {
        return Raw.isPacked(dtype);
    }

    @Override
    public void run(CpuFrame frame) {
        if (pieces == 1) {
            super.run(frame);
            return;
        }
        frame.parallel(part, lanes.count * pieces, 1);
        for (long lane = 0; lane < lanes.count; lane++) {
            BestFew best = of(frame, lane * pieces, 0);
            for (long i = 1; i < pieces; i++) {
                best.join(of(frame, lane * pieces + i, 0).heap(), best(i), i * piece);
            }
            write(frame, lane, frame.at(input), lane * lanes.size, 1, best.heap());
        }
    }

    /** How many of the best a piece has. */
    private long best(long index) {
        return Math.min(k, elements(index));
    }

    private long elements(long index) {
        return Math.max(0, Math.min(piece, lanes.size - index * piece));
    }

    private BestFew of(CpuFrame frame, long unit, int worker) {
        MemorySegment heap = frame.workspace(0).asSlice(linesAt() + unit * heapBytes(), heapBytes());
        Keys known = Objects.requireNonNull(keys);
        return new BestFew(known, best(unit % pieces), heap, frame.workspace(worker), heapBytes());
    }

    private void part(CpuFrame frame, long from, long to, int worker) {
        for (long unit = from; unit < to; unit++) {
            long index = unit % pieces;
            long first = unit / pieces * lanes.size + index * piece;
            if (best(index) > 0) {
                of(frame, unit, worker).fill(frame.at(input), first, elements(index));
            }
        }
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment source = frame.at(input);
        MemorySegment workspace = frame.workspace(worker);
        if (few && isByMachineCode(source, workspace)) {
            for (long lane = from; lane < to; ) {
                int n = (int) Math.min(Math.min(PANEL, to - lane), lanes.stride - lane % lanes.stride);
                int taken = n / LaneKernel.LANES * LaneKernel.LANES;
                if (taken > 0) {
                    panel(frame, lane, taken, workspace);
                }
                lanes(frame, lane + taken, lane + n, workspace);
                lane += n;
            }
            return;
        }
        lanes(frame, from, to, workspace);
    }

    private static boolean isByMachineCode(MemorySegment source, MemorySegment workspace) {
        boolean outside = Segments.isNative(source) && Segments.isNative(workspace);
        return outside && MachineLoops.lanes() == LaneKernel.LANES && LaneKernel.hasBest();
    }

    /** The best few of lanes side by side. */
    private void panel(CpuFrame frame, long lane, int n, MemorySegment workspace) {
        MemorySegment source = frame.at(input);
        long first = lanes.first(lane, lanes.size);
        long target = lanes.first(lane, k);
        long found = linesAt() + gatheredBytes();
        Matrix x = new Matrix(source, 4 * first, 4 * lanes.stride);
        int size = (int) lanes.size;
        LaneKernel.best((int) k, largest, size, n, x, new Place(workspace, found), MachineLoops.arguments());
        for (int place = 0; place < k; place++) {
            long numbers = found + 4L * n * (k + place);
            long to = target + place * lanes.stride;
            for (int j = 0; j < n; j++) {
                long row = workspace.get(Raw.I32, numbers + 4L * j);
                frame.at(indices).set(Raw.I64, 8 * (to + j), row);
                int bits = source.get(Raw.I32, 4 * (first + row * lanes.stride + j));
                frame.at(values).set(Raw.I32, 4 * (to + j), bits);
            }
        }
    }

    private void lanes(CpuFrame frame, long from, long to, MemorySegment workspace) {
        MemorySegment source = frame.at(input);
        if (!gathered) {
            for (long lane = from; lane < to; lane++) {
                lane(frame, lane, source, lanes.first(lane, lanes.size), lanes.stride, workspace);
            }
            return;
        }
        MemorySegment lines = workspace.asSlice(linesAt(), gatheredBytes());
        for (long lane = from; lane < to; ) {
            int count = (int)
                    Math.min(Math.min(GATHERED_BYTES / dtype.bytes(), to - lane), lanes.stride - lane % lanes.stride);
            long first = lanes.first(lane, lanes.size);
            StridedCopy.turn(dtype, source, first, lanes.stride, (int) lanes.size, count, lines);
            for (int j = 0; j < count; j++) {
                lane(frame, lane + j, lines, j * lanes.size, 1, workspace);
            }
            lane += count;
        }
    }

    /** The best of a lane that lies at that place of memory. */
    private void lane(CpuFrame frame, long lane, MemorySegment memory, long first, long stride, MemorySegment heap) {
        fill(heap, memory, first, stride);
        write(frame, lane, memory, first, stride, heap);
    }

    /** Takes the heap of a lane apart. */
    private void write(CpuFrame frame, long lane, MemorySegment memory, long first, long stride, MemorySegment heap) {
        long target = lanes.first(lane, k);
        for (long size = k; size > 0; size--) {
            // the worst of those left
            long index = Heap.topIndex(heap);
            long at = target + (size - 1) * lanes.stride;
            frame.at(indices).set(Raw.I64, at * 8, index);
            Elements.setBits(dtype, frame.at(values), at, Elements.bits(dtype, memory, first + index * stride));
            Heap.removeTop(heap, size);
        }
    }

    /** Makes a heap of the best k. */
    private void fill(MemorySegment heap, MemorySegment memory, long first, long stride) {
        if (stride == 1 && keys != null) {
            new BestFew(keys, k, heap, heap, heapBytes()).fill(memory, first, lanes.size);
            return;
        }
        for (long i = 0; i < k; i++) {
            Heap.set(heap, i, key(memory, first + i * stride), i);
        }
        Heap.make(heap, k);
        long worst = heap.get(Raw.I64, 0);
        for (long i = k; i < lanes.size; i++) {
            long key = key(memory, first + i * stride);
            // an equal key loses: its index is higher than all in the heap
            if (key > worst) {
                Heap.sink(heap, 0, k, key, i);
                worst = heap.get(Raw.I64, 0);
            }
        }
    }

    private long key(MemorySegment source, long index) {
        if (keys != null) {
            return keys.key(source, index);
        }
        long key = Order.key(dtype, source, index);
        return largest ? key : ~key;
    }
}
