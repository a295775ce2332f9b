package dev.tenon.cpu.search;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.searching.UniqueIndices;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.reduce.Order;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/** {@link UniqueStep} of slices, whose places are merged: workers share the pairs of runs of each length. */
final class UniqueSlicesStep extends UniqueStep {
    private final DType dtype;
    private final int input;
    private final long outer;
    private final long inner;
    private final RangeTask merge = this::merge;
    private final RangeTask mark = this::mark;

    UniqueSlicesStep(UniqueIndices op, Node node, CpuLoweringContext context) {
        super(op, node, context);
        Shape x = node.input(0).shape();
        this.dtype = node.input(0).dtype();
        this.input = context.slot(node.input(0));
        this.outer = x.elements(0, op.axis());
        this.inner = x.elements(op.axis() + 1, x.rank());
    }

    @Override
    public String tier() {
        return "slices, merged";
    }

    @Override
    void sort(CpuFrame frame) {
        MemorySegment places = counts(frame);
        for (int i = 0; i < slices; i++) {
            places.set(Raw.I32, place(false, i), i);
        }
        boolean copy = false;
        for (long run = 1; run < slices; run *= 2) {
            frame.group()[0] = run;
            frame.group()[1] = copy ? 1 : 0;
            // a comparison reads both slices where they are equal, and the first elements where they are not
            frame.parallel(merge, Math.ceilDiv(slices, 2 * run), LoopStep.grain(16 * run));
            copy = !copy;
        }
        frame.group()[1] = copy ? 1 : 0;
        if (copy) {
            MemorySegment.copy(places, place(true, 0), places, place(false, 0), (long) slices * Integer.BYTES);
        }
        frame.parallel(mark, slices, LoopStep.grain(16));
    }

    private void merge(CpuFrame frame, long from, long to, int worker) {
        MemorySegment x = frame.at(input);
        MemorySegment places = counts(frame);
        long run = frame.group()[0];
        boolean copy = frame.group()[1] != 0;
        for (long pair = from; pair < to; pair++) {
            long left = pair * 2 * run;
            long middle = Math.min(left + run, slices);
            long right = middle;
            long end = Math.min(middle + run, slices);
            for (long target = left; target < end; target++) {
                int a = left < middle ? places.get(Raw.I32, place(copy, left)) : -1;
                int b = right < end ? places.get(Raw.I32, place(copy, right)) : -1;
                boolean takesLeft = b < 0 || (a >= 0 && compare(x, a, b) <= 0);
                places.set(Raw.I32, place(!copy, target), takesLeft ? a : b);
                left += takesLeft ? 1 : 0;
                right += takesLeft ? 0 : 1;
            }
        }
    }

    private void mark(CpuFrame frame, long from, long to, int worker) {
        MemorySegment x = frame.at(input);
        MemorySegment places = counts(frame);
        for (long i = from; i < to; i++) {
            int place = places.get(Raw.I32, place(false, i));
            int before = i == 0 ? 0 : places.get(Raw.I32, place(false, i - 1));
            // the one before may have its mark already, from this worker or another
            boolean starts = i == 0 || compare(x, before < 0 ? ~before : before, place) != 0;
            places.set(Raw.I32, place(false, i), starts ? ~place : place);
        }
    }

    private int compare(MemorySegment x, int a, int b) {
        for (long block = 0; block < outer; block++) {
            long start = block * slices * inner;
            for (long i = 0; i < inner; i++) {
                long one = Order.key(dtype, x, start + a * inner + i);
                long other = Order.key(dtype, x, start + b * inner + i);
                if (one != other) {
                    return Long.compare(one, other);
                }
            }
        }
        return 0;
    }
}
