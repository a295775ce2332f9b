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
import java.lang.foreign.MemorySegment;
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

    /** Bytes of a lane that so many of stay in a cache. */
    private static final long MOST_BYTES = 256 << 10;

    /** Of a lane that is looked through at once. */
    private static final long BLOCK_BYTES = 4 << 10;

    private final DType dtype;
    private final Lanes lanes;
    private final long k;
    private final boolean largest;
    /** Null of elements of less than a byte. */
    private final @Nullable Keys keys;

    private final boolean gathered;
    private final boolean few;
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
        this.gathered = lanes.stride > 1 && !Raw.isPacked(dtype) && lanes.size <= MOST_BYTES / dtype.bytes();
        boolean fewBest = k > 0 && k <= LaneKernel.MOST_BEST && lanes.size <= Integer.MAX_VALUE;
        this.few = dtype == DType.F32 && fewBest && lanes.stride >= LaneKernel.LANES;
        this.input = context.slot(node.input(0));
        this.values = context.slot(node.outputs().get(0));
        this.indices = context.slot(node.outputs().get(1));
    }

    @Override
    public long workspaceBytes() {
        return SizeMath.sum("top-k", heapBytes(), KeyLoops.FOUND_BYTES, gatheredBytes(), foundBytes());
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
        return few ? Math.min(lanes.stride, PANEL) : gathered ? Math.min(lanes.stride, GATHERED_BYTES / dtype.bytes()) : 1;
    }

    @Override
    public boolean isSerial() {
        return Raw.isPacked(dtype);
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
            int count = (int) Math.min(Math.min(GATHERED_BYTES / dtype.bytes(), to - lane), lanes.stride - lane % lanes.stride);
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
        for (long i = 0; i < k; i++) {
            Heap.set(heap, i, key(memory, first + i * stride), i);
        }
        Heap.make(heap, k);
        if (stride == 1 && keys != null) {
            fillInOrder(keys, heap, memory, first);
            return;
        }
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

    /** Looks through blocks whose best is better than the worst that is known. */
    private void fillInOrder(Keys known, MemorySegment heap, MemorySegment memory, long first) {
        int block = (int) (BLOCK_BYTES / known.width());
        long found = heapBytes();
        long i = k;
        while (i < lanes.size) {
            if (lanes.size - i < (long) KeyLoops.BLOCKS * block) {
                int n = (int) Math.min(block, lanes.size - i);
                look(known, heap, memory, first, i, n);
                i += n;
                continue;
            }
            KeyLoops.largest(known, memory, first + i, block, block, heap, found);
            for (int which = 0; which < KeyLoops.BLOCKS; which++) {
                if (heap.get(Raw.I64, found + 8L * which) > heap.get(Raw.I64, 0)) {
                    look(known, heap, memory, first, i + (long) which * block, block);
                }
            }
            i += (long) KeyLoops.BLOCKS * block;
        }
    }

    private void look(Keys known, MemorySegment heap, MemorySegment memory, long first, long from, int n) {
        long begin = first + from;
        int at = KeyLoops.better(known, memory, begin, 0, n, heap.get(Raw.I64, 0));
        while (at < n) {
            Heap.sink(heap, 0, k, known.key(memory, begin + at), from + at);
            at = KeyLoops.better(known, memory, begin, at + 1, n, heap.get(Raw.I64, 0));
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
