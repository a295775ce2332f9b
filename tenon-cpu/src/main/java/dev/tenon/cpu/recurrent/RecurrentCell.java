package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.state.RnnActivation;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** What a recurrent layer does with a step's products. Immutable. */
abstract class RecurrentCell {
    /** Rows of the weights [from, to) that are multiplied by the state at once. */
    record Part(int from, int to) {}

    final RecurrentShape shape;
    final int hidden;
    private final Loops loops = Loops.current();

    RecurrentCell(RecurrentShape shape) {
        this.shape = shape;
        this.hidden = shape.hidden();
    }

    /** The products of the recurrent weights that the cell asks for. */
    abstract List<Part> parts();

    /** How many elements of work each sequence needs beside its products and states. */
    abstract int workElements();

    /** The first of the weights' rows whose recurrent bias is kept apart from that of the input. */
    int separateBias() {
        return shape.rows();
    }

    /**
     * One step of all sequences of a unit, of which those that have ended are left as they are.
     *
     * @param sums byte offset of what the input adds to each gate of each sequence: rows of {@link RecurrentShape#rows}
     *     elements, which the step may write
     */
    abstract void step(CpuFrame frame, RecurrentProducts products, RecurrentUnit unit, long sums, int t);

    /** Whether a sequence has an element at a time: one walked backwards starts at its own last one. */
    final boolean goesOn(CpuFrame frame, int b, int t) {
        return shape.lengths() < 0 || t < frame.at(shape.lengths()).get(Raw.I32, 4L * b);
    }

    static Unary unary(RnnActivation activation) {
        return new Unary(activation.fn(), activation.alpha(), activation.beta());
    }

    /** Replaces {@code count} elements of work by their activation, their arguments bounded first. */
    final void activate(Unary activation, MemorySegment work, long offset, int count) {
        bound(work, offset, count);
        if (shape.width() == 4) {
            loops.unary(activation, work, offset, work, offset, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            shape.set(work, offset, i, activation.apply(shape.get(work, offset, i)));
        }
    }

    private void bound(MemorySegment work, long offset, int count) {
        double most = shape.bounded();
        for (int i = 0; most > 0 && i < count; i++) {
            shape.set(work, offset, i, Math.clamp(shape.get(work, offset, i), -most, most));
        }
    }
}
