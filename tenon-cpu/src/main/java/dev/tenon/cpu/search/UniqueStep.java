package dev.tenon.cpu.search;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.searching.UniqueIndices;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import java.lang.foreign.MemorySegment;

/**
 * The different slices of an axis: slices are put into order by a stable sort, so that equals are neighbours and the
 * first of them leads. The sort works in the memory of the results, which are written last: keys and their copy where
 * first appearances and the inverse come to lie, places and their copy in the two halves of the counts.
 */
abstract class UniqueStep implements CpuStep {
    /** Slices that are worth handing to another thread. */
    static final long PIECE = 16_384;

    final int slices;
    private final boolean sorted;
    private final int[] results;

    UniqueStep(UniqueIndices op, Node node, CpuLoweringContext context) {
        this.slices = SizeMath.toInt("unique", node.input(0).shape().size(op.axis()));
        this.sorted = op.sorted();
        this.results = node.outputs().stream().mapToInt(context::slot).toArray();
    }

    /** Puts the places of the slices into order, see {@link #place}: ~place where one differs from that before. */
    abstract void sort(CpuFrame frame);

    final MemorySegment first(CpuFrame frame) {
        return frame.at(results[0]);
    }

    final MemorySegment inverse(CpuFrame frame) {
        return frame.at(results[1]);
    }

    final MemorySegment counts(CpuFrame frame) {
        return frame.at(results[2]);
    }

    /** The byte of a place in {@link #counts}, in the half that is read last, or in the other one. */
    final long place(boolean copy, long index) {
        return ((copy ? 0 : slices) + index) * Integer.BYTES;
    }

    @Override
    public final void run(CpuFrame frame) {
        long groups = 0;
        if (slices > 0) {
            sort(frame);
            groups = sorted ? inOrder(frame) : asMet(frame);
        }
        Raw.fillElements(DType.I64, first(frame), groups, slices - groups, 0);
        Raw.fillElements(DType.I64, counts(frame), groups, slices - groups, 0);
        frame.at(results[3]).set(Raw.I64, 0, groups);
    }

    /** Numbers the groups as they are sorted. A count is written behind the places that are yet to be read. */
    private long inOrder(CpuFrame frame) {
        MemorySegment first = first(frame);
        MemorySegment inverse = inverse(frame);
        MemorySegment counts = counts(frame);
        long group = -1;
        long start = 0;
        for (long i = 0; i < slices; i++) {
            int slice = counts.get(Raw.I32, place(false, i));
            if (slice < 0) {
                slice = ~slice;
                if (group >= 0) {
                    counts.set(Raw.I64, group * Long.BYTES, i - start);
                }
                start = i;
                first.set(Raw.I64, ++group * Long.BYTES, slice);
            }
            inverse.set(Raw.I64, (long) slice * Long.BYTES, group);
        }
        counts.set(Raw.I64, group * Long.BYTES, slices - start);
        return group + 1;
    }

    /** Numbers the groups by their first slices: each slice gets the first of its group, which then gets the number. */
    private long asMet(CpuFrame frame) {
        MemorySegment first = first(frame);
        MemorySegment inverse = inverse(frame);
        MemorySegment counts = counts(frame);
        int leader = 0;
        for (long i = 0; i < slices; i++) {
            int slice = counts.get(Raw.I32, place(false, i));
            if (slice < 0) {
                slice = ~slice;
                leader = slice;
            }
            inverse.set(Raw.I64, (long) slice * Long.BYTES, leader);
        }
        Raw.fillElements(DType.I64, counts, 0, slices, 0);
        long groups = 0;
        for (long slice = 0; slice < slices; slice++) {
            long of = inverse.get(Raw.I64, slice * Long.BYTES);
            // a leader comes before the others of its group, and has its number by then
            long group = of == slice ? groups++ : inverse.get(Raw.I64, of * Long.BYTES);
            if (of == slice) {
                first.set(Raw.I64, group * Long.BYTES, slice);
            }
            inverse.set(Raw.I64, slice * Long.BYTES, group);
            counts.set(Raw.I64, group * Long.BYTES, counts.get(Raw.I64, group * Long.BYTES) + 1);
        }
        return groups;
    }
}
