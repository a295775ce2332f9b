package dev.tenon.cpu.indexing;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.movement.CopyStep;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * Copies data, then combines updates into it. Updates that differ in another dim than the axis never meet, so those
 * lanes are the units, and within a lane the updates come in order: the result is that of one thread.
 */
final class ScatterElementsStep extends LoopStep {
    /** Lanes side by side in a unit, and elements of workspace at most where one lane fits. */
    private static final long LANES = 512;

    private static final long WIDE_ELEMENTS = 16 * 1024;

    private final CpuStep copy;
    private final Combiner combiner;
    private final Indices indices;
    private final int axis;
    private final boolean packed;
    /** Sizes of the updates and how far their steps are in data. */
    private final long[] sizes;

    private final long[] strides;
    private final long size;
    private final long along;
    private final long inner;
    private final long chunk;
    private final boolean contiguous;
    private final int places;
    private final int updates;
    private final int output;

    ScatterElementsStep(ScatterElements op, Node node, CpuLoweringContext context) {
        Shape data = node.output().shape();
        Shape moved = node.input(1).shape();
        DType dtype = node.output().dtype();
        Combiner combiner = new Combiner(op.fn(), dtype);
        int axis = data.axis(op.axis());
        long inner = moved.elements(axis + 1, moved.rank());
        long lanes = combiner.isWide() ? Math.max(1, WIDE_ELEMENTS / Math.max(1, data.size(axis))) : LANES;
        long chunk = Math.min(lanes, Math.max(1, inner));
        long units = moved.elements() == 0
                ? 0
                : SizeMath.product("scatter", moved.elements(0, axis), Math.ceilDiv(inner, chunk));
        super(
                combiner.isWide() ? "lanes in f32 workspace" : "lanes",
                units,
                SizeMath.product("scatter", moved.size(axis), chunk));
        this.copy = CopyStep.whole(node.input(0), node.output(), context);
        this.combiner = combiner;
        this.indices = new Indices(node.input(1).dtype(), op.mnemonic(), node.name());
        this.axis = axis;
        this.packed = Raw.isPacked(dtype);
        this.sizes = moved.sizes();
        this.strides = data.strides();
        this.size = data.size(axis);
        this.along = strides[axis];
        this.inner = inner;
        this.chunk = chunk;
        this.contiguous = moved.range(axis + 1, moved.rank()).equals(data.range(axis + 1, data.rank()));
        this.places = context.slot(node.input(1));
        this.updates = context.slot(node.input(2));
        this.output = context.slot(node.output());
    }

    @Override
    public long workspaceBytes() {
        return combiner.isWide() ? size * chunk * 4 : 0;
    }

    @Override
    public boolean isSerial() {
        return packed;
    }

    @Override
    public void run(CpuFrame frame) {
        copy.run(frame);
        super.run(frame);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        long chunks = Math.ceilDiv(inner, chunk);
        for (long unit = from; unit < to; unit++) {
            long outer = unit / chunks;
            long first = unit % chunks * chunk;
            long count = Math.min(chunk, inner - first);
            long base = offset(outer, 0, axis);
            if (combiner.isWide()) {
                wide(frame, outer, base, first, count, frame.workspace(worker));
            } else {
                plain(frame, outer, base, first, count);
            }
        }
    }

    private void plain(CpuFrame frame, long outer, long base, long first, long count) {
        MemorySegment at = frame.at(places);
        MemorySegment source = frame.at(updates);
        MemorySegment target = frame.at(output);
        for (long i = 0; i < sizes[axis]; i++) {
            long update = (outer * sizes[axis] + i) * inner + first;
            for (long lane = 0; lane < count; lane++) {
                long index = indices.checked(at, update + lane, size, axis);
                combiner.apply(target, base + innerOffset(first + lane) + index * along, source, update + lane, 1);
            }
        }
    }

    private void wide(CpuFrame frame, long outer, long base, long first, long count, MemorySegment workspace) {
        MemorySegment at = frame.at(places);
        MemorySegment source = frame.at(updates);
        MemorySegment target = frame.at(output);
        for (long i = 0; i < size; i++) {
            for (long lane = 0; lane < count; lane++) {
                long from = base + innerOffset(first + lane) + i * along;
                combiner.widen(target, from, workspace, i * count + lane, 1);
            }
        }
        for (long i = 0; i < sizes[axis]; i++) {
            long update = (outer * sizes[axis] + i) * inner + first;
            for (long lane = 0; lane < count; lane++) {
                long index = indices.checked(at, update + lane, size, axis);
                combiner.applyWide(workspace, index * count + lane, source, update + lane, 1);
            }
        }
        for (long i = 0; i < size; i++) {
            for (long lane = 0; lane < count; lane++) {
                long to = base + innerOffset(first + lane) + i * along;
                combiner.narrow(workspace, i * count + lane, target, to, 1);
            }
        }
    }

    private long innerOffset(long index) {
        return contiguous ? index : offset(index, axis + 1, sizes.length);
    }

    /** Where in data a flat index of the updates' dims [from, to) lies. */
    private long offset(long index, int from, int to) {
        long offset = 0;
        long rest = index;
        for (int i = to - 1; i >= from; i--) {
            offset += rest % sizes[i] * strides[i];
            rest /= sizes[i];
        }
        return offset;
    }
}
