package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Gates i o f c: c = f c' + i g(c), h = o h(c). */
final class LstmCell extends RecurrentCell {
    private final List<Unary> activations;
    private final boolean inputForget;
    private final Part all;

    LstmCell(RecurrentShape shape, Lstm op) {
        super(shape);
        this.activations = op.activations().stream().map(RecurrentCell::unary).toList();
        this.inputForget = op.inputForget();
        this.all = new Part(0, shape.rows());
    }

    @Override
    List<Part> parts() {
        return List.of(all);
    }

    @Override
    int workElements() {
        return 0;
    }

    @Override
    void step(CpuFrame frame, RecurrentProducts products, RecurrentUnit unit, long sums, int t) {
        int rows = shape.rows();
        products.recur(frame, unit, all, unit.states(), true, sums, rows);
        for (int b = 0; b < unit.count(); b++) {
            if (goesOn(frame, unit.first() + b, t)) {
                long state = (long) b * hidden * shape.width();
                sequence(
                        frame,
                        unit.direction(),
                        unit.memory(),
                        sums + (long) b * rows * shape.width(),
                        unit.states() + state,
                        unit.cells() + state);
            }
        }
    }

    private void sequence(CpuFrame frame, int d, MemorySegment memory, long gates, long state, long cell) {
        Unary f = activations.get(3 * d);
        Unary g = activations.get(3 * d + 1);
        Unary h = activations.get(3 * d + 2);
        long block = (long) hidden * shape.width();
        long out = gates + block;
        long forget = gates + 2 * block;
        long candidate = gates + 3 * block;
        peep(frame, d, 0, memory, gates, cell);
        activate(f, memory, gates, hidden);
        if (!inputForget) {
            peep(frame, d, 2, memory, forget, cell);
            activate(f, memory, forget, hidden);
        }
        activate(g, memory, candidate, hidden);
        for (int i = 0; i < hidden; i++) {
            double in = shape.get(memory, gates, i);
            double keep = inputForget ? 1 - in : shape.get(memory, forget, i);
            double next = keep * shape.get(memory, cell, i) + in * shape.get(memory, candidate, i);
            shape.set(memory, cell, i, next);
        }
        peep(frame, d, 1, memory, out, cell);
        activate(f, memory, out, hidden);
        Raw.copy(memory, cell, memory, state, block);
        activate(h, memory, state, hidden);
        for (int i = 0; i < hidden; i++) {
            shape.set(memory, state, i, shape.get(memory, out, i) * shape.get(memory, state, i));
        }
    }

    /** Adds what a gate sees of the cell's state; the peepholes' order is i o f. */
    private void peep(CpuFrame frame, int d, int which, MemorySegment memory, long gate, long cell) {
        if (shape.peepholes() < 0) {
            return;
        }
        MemorySegment weights = frame.at(shape.peepholes());
        for (int i = 0; i < hidden; i++) {
            double weight = Elements.getDouble(shape.dtype(), weights, (3L * d + which) * hidden + i);
            shape.set(memory, gate, i, shape.get(memory, gate, i) + weight * shape.get(memory, cell, i));
        }
    }
}
