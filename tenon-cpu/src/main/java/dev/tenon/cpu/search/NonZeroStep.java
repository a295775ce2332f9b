package dev.tenon.cpu.search;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * The index tuples of elements that are not zero: chunks are counted side by side, and then each writes from where
 * those before it end. Elements are compared as bits, floats without their sign.
 */
final class NonZeroStep implements CpuStep {
    private static final long CHUNK = 16_384;
    private static final int BLOCK = 1024;
    /** Behind the places found in a block the tuple of a row, then, of the first worker, what is before each chunk. */
    private static final long ROW_AT = BLOCK * Long.BYTES;

    private final DType dtype;
    private final long mask;
    private final Shape shape;
    private final long[] strides;
    private final long elements;
    private final long chunks;
    private final long before;
    private final int input;
    private final int tuples;
    private final int number;
    private final RangeTask count = this::count;
    private final RangeTask write = this::write;

    NonZeroStep(Node node, CpuLoweringContext context) {
        this.shape = node.input(0).shape();
        this.dtype = node.input(0).dtype();
        long all = dtype.bits() == Long.SIZE ? -1 : (1L << dtype.bits()) - 1;
        this.mask = dtype.isFloat() ? all >>> 1 : all;
        this.strides = shape.strides();
        this.elements = shape.elements();
        this.chunks = Math.ceilDiv(elements, CHUNK);
        this.before = ROW_AT + (long) shape.rank() * Long.BYTES;
        this.input = context.slot(node.input(0));
        this.tuples = context.slot(node.outputs().get(0));
        this.number = context.slot(node.outputs().get(1));
    }

    @Override
    public String tier() {
        return "chunks, counted and then written";
    }

    @Override
    public long workspaceBytes() {
        return SizeMath.sum("non_zero", before, SizeMath.product("non_zero", chunks, Long.BYTES));
    }

    @Override
    public void run(CpuFrame frame) {
        frame.parallel(count, chunks, 1);
        MemorySegment counts = frame.workspace(0);
        long found = 0;
        for (long chunk = 0; chunk < chunks; chunk++) {
            long own = counts.get(Raw.I64, before + chunk * Long.BYTES);
            counts.set(Raw.I64, before + chunk * Long.BYTES, found);
            found += own;
        }
        frame.at(number).set(Raw.I64, 0, found);
        frame.parallel(write, chunks, 1);
    }

    private void count(CpuFrame frame, long from, long to, int worker) {
        for (long chunk = from; chunk < to; chunk++) {
            long end = Math.min(elements, (chunk + 1) * CHUNK);
            long found = 0;
            for (long at = chunk * CHUNK; at < end; at += BLOCK) {
                found += find(frame.at(input), at, (int) Math.min(BLOCK, end - at), frame.workspace(worker));
            }
            frame.workspace(0).set(Raw.I64, before + chunk * Long.BYTES, found);
        }
    }

    private void write(CpuFrame frame, long from, long to, int worker) {
        MemorySegment places = frame.workspace(worker);
        MemorySegment result = frame.at(tuples);
        long all = frame.at(number).get(Raw.I64, 0);
        for (long chunk = from; chunk < to; chunk++) {
            long end = Math.min(elements, (chunk + 1) * CHUNK);
            long target = frame.workspace(0).get(Raw.I64, before + chunk * Long.BYTES);
            for (long at = chunk * CHUNK; at < end; at += BLOCK) {
                int found = find(frame.at(input), at, (int) Math.min(BLOCK, end - at), places);
                spread(places, found, result, target);
                target += found;
            }
            long rest = Math.max(all, chunk * CHUNK);
            for (int axis = 0; axis < strides.length && rest < end; axis++) {
                Raw.fillElements(DType.I64, result, axis * elements + rest, end - rest, 0);
            }
        }
    }

    /** Takes places apart into tuples; what they share with the place before is not worked out again. */
    private void spread(MemorySegment places, int found, MemorySegment result, long target) {
        int last = strides.length - 1;
        if (last < 0) {
            return;
        }
        long size = shape.size(last);
        long row = -1;
        for (int i = 0; i < found; i++) {
            long place = places.get(Raw.I64, (long) i * Long.BYTES);
            if (row < 0 || place - row >= size) {
                long rest = place;
                for (int axis = 0; axis < last; axis++) {
                    long index = rest / strides[axis];
                    places.set(Raw.I64, ROW_AT + (long) axis * Long.BYTES, index);
                    rest -= index * strides[axis];
                }
                row = place - rest;
            }
            long at = target + i;
            for (int axis = 0; axis < last; axis++) {
                long index = places.get(Raw.I64, ROW_AT + (long) axis * Long.BYTES);
                result.set(Raw.I64, (axis * elements + at) * Long.BYTES, index);
            }
            result.set(Raw.I64, (last * elements + at) * Long.BYTES, place - row);
        }
    }

    /** Writes the places in a block that are not zero, without a branch; returns how many. */
    private int find(MemorySegment x, long from, int n, MemorySegment places) {
        int found = 0;
        switch (dtype.bits()) {
            case 64 -> {
                for (int i = 0; i < n; i++) {
                    places.set(Raw.I64, (long) found * Long.BYTES, from + i);
                    found += (x.get(Raw.I64, (from + i) * Long.BYTES) & mask) != 0 ? 1 : 0;
                }
            }
            case 32 -> {
                for (int i = 0; i < n; i++) {
                    places.set(Raw.I64, (long) found * Long.BYTES, from + i);
                    found += (x.get(Raw.I32, (from + i) * Integer.BYTES) & mask) != 0 ? 1 : 0;
                }
            }
            case 16 -> {
                for (int i = 0; i < n; i++) {
                    places.set(Raw.I64, (long) found * Long.BYTES, from + i);
                    found += (x.get(Convert.I16, (from + i) * Short.BYTES) & mask) != 0 ? 1 : 0;
                }
            }
            case 8 -> {
                for (int i = 0; i < n; i++) {
                    places.set(Raw.I64, (long) found * Long.BYTES, from + i);
                    found += (x.get(Raw.I8, from + i) & mask) != 0 ? 1 : 0;
                }
            }
            default -> {
                for (int i = 0; i < n; i++) {
                    places.set(Raw.I64, (long) found * Long.BYTES, from + i);
                    found += (Elements.bits(dtype, x, from + i) & mask) != 0 ? 1 : 0;
                }
            }
        }
        return found;
    }
}
