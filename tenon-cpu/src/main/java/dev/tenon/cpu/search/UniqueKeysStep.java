package dev.tenon.cpu.search;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.searching.UniqueIndices;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.reduce.Order;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * {@link UniqueStep} of single elements: their keys are sorted digit by digit from the lowest on. Each worker counts
 * the digits of a part, and moves it to where equal digits of earlier parts end. Keys count from the least one, so that
 * a small range has few digits.
 */
final class UniqueKeysStep extends UniqueStep {
    private static final int DIGIT = 11;
    private static final int DIGITS = 1 << DIGIT;
    /** Of each part its least and its greatest key, then its counts. */
    private static final long PART_BYTES = 2 * Long.BYTES + (long) DIGITS * Integer.BYTES;

    private final DType dtype;
    private final int input;
    private final long parts;
    private final RangeTask range = this::range;
    private final RangeTask keys = this::keys;
    private final RangeTask count = this::count;
    private final RangeTask move = this::move;
    private final RangeTask mark = this::mark;

    UniqueKeysStep(UniqueIndices op, Node node, CpuLoweringContext context) {
        super(op, node, context);
        this.dtype = node.input(0).dtype();
        this.input = context.slot(node.input(0));
        this.parts = Math.clamp(slices / PIECE, 1, context.threads());
    }

    @Override
    public String tier() {
        return "keys, by digits";
    }

    @Override
    public long workspaceBytes() {
        return parts * PART_BYTES;
    }

    private long start(long part) {
        return part * slices / parts;
    }

    private long key(MemorySegment x, long index) {
        long key = Order.key(dtype, x, index);
        // the key of NaN is above those of all types
        return dtype.bits() == Long.SIZE ? key : Math.min(key, 0xFFFFFFFFL);
    }

    @Override
    void sort(CpuFrame frame) {
        frame.parallel(range, parts, 1);
        long least = Long.MAX_VALUE;
        long greatest = Long.MIN_VALUE;
        for (long part = 0; part < parts; part++) {
            least = Math.min(least, frame.workspace(0).get(Raw.I64, part * PART_BYTES));
            greatest = Math.max(greatest, frame.workspace(0).get(Raw.I64, part * PART_BYTES + Long.BYTES));
        }
        frame.group()[2] = least;
        frame.parallel(keys, parts, 1);
        boolean copy = false;
        int bits = Long.SIZE - Long.numberOfLeadingZeros(greatest - least);
        for (int shift = 0; shift < bits; shift += DIGIT) {
            frame.group()[0] = shift;
            frame.group()[1] = copy ? 1 : 0;
            frame.parallel(count, parts, 1);
            total(frame.workspace(0));
            frame.parallel(move, parts, 1);
            copy = !copy;
        }
        frame.group()[1] = copy ? 1 : 0;
        frame.parallel(mark, parts, 1);
    }

    private void range(CpuFrame frame, long from, long to, int worker) {
        MemorySegment x = frame.at(input);
        for (long part = from; part < to; part++) {
            long least = Long.MAX_VALUE;
            long greatest = Long.MIN_VALUE;
            for (long i = start(part); i < start(part + 1); i++) {
                long key = key(x, i);
                least = Math.min(least, key);
                greatest = Math.max(greatest, key);
            }
            frame.workspace(0).set(Raw.I64, part * PART_BYTES, least);
            frame.workspace(0).set(Raw.I64, part * PART_BYTES + Long.BYTES, greatest);
        }
    }

    /** Writes how far above the least key each is, which is an unsigned number, and where. */
    private void keys(CpuFrame frame, long from, long to, int worker) {
        MemorySegment x = frame.at(input);
        MemorySegment sorted = first(frame);
        MemorySegment places = counts(frame);
        long least = frame.group()[2];
        for (long i = start(from); i < start(to); i++) {
            sorted.set(Raw.I64, i * Long.BYTES, key(x, i) - least);
            places.set(Raw.I32, place(false, i), (int) i);
        }
    }

    private static long countAt(long part, long digit) {
        return part * PART_BYTES + 2 * Long.BYTES + digit * Integer.BYTES;
    }

    private void count(CpuFrame frame, long from, long to, int worker) {
        int shift = (int) frame.group()[0];
        MemorySegment sorted = frame.group()[1] == 0 ? first(frame) : inverse(frame);
        MemorySegment counts = frame.workspace(0);
        for (long part = from; part < to; part++) {
            Raw.fillElements(DType.I32, counts, countAt(part, 0) / Integer.BYTES, DIGITS, 0);
            for (long i = start(part); i < start(part + 1); i++) {
                long at = countAt(part, sorted.get(Raw.I64, i * Long.BYTES) >>> shift & (DIGITS - 1));
                counts.set(Raw.I32, at, counts.get(Raw.I32, at) + 1);
            }
        }
    }

    /** Turns counts into where the first of each digit and part goes. */
    private void total(MemorySegment counts) {
        int before = 0;
        for (long digit = 0; digit < DIGITS; digit++) {
            for (long part = 0; part < parts; part++) {
                int own = counts.get(Raw.I32, countAt(part, digit));
                counts.set(Raw.I32, countAt(part, digit), before);
                before += own;
            }
        }
    }

    private void move(CpuFrame frame, long from, long to, int worker) {
        int shift = (int) frame.group()[0];
        boolean copy = frame.group()[1] != 0;
        MemorySegment source = copy ? inverse(frame) : first(frame);
        MemorySegment target = copy ? first(frame) : inverse(frame);
        MemorySegment places = counts(frame);
        MemorySegment counts = frame.workspace(0);
        for (long part = from; part < to; part++) {
            for (long i = start(part); i < start(part + 1); i++) {
                long key = source.get(Raw.I64, i * Long.BYTES);
                long at = countAt(part, key >>> shift & (DIGITS - 1));
                int next = counts.get(Raw.I32, at);
                counts.set(Raw.I32, at, next + 1);
                target.set(Raw.I64, (long) next * Long.BYTES, key);
                places.set(Raw.I32, place(!copy, next), places.get(Raw.I32, place(copy, i)));
            }
        }
    }

    private void mark(CpuFrame frame, long from, long to, int worker) {
        boolean copy = frame.group()[1] != 0;
        MemorySegment sorted = copy ? inverse(frame) : first(frame);
        MemorySegment places = counts(frame);
        for (long part = from; part < to; part++) {
            long begin = start(part);
            long before = begin == 0 ? 0 : sorted.get(Raw.I64, (begin - 1) * Long.BYTES);
            for (long i = begin; i < start(part + 1); i++) {
                long key = sorted.get(Raw.I64, i * Long.BYTES);
                int place = places.get(Raw.I32, place(copy, i));
                places.set(Raw.I32, place(false, i), i == 0 || key != before ? ~place : place);
                before = key;
            }
        }
    }
}
