package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.state.Gru;
import dev.tenon.cpu.step.CpuFrame;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Gates z r h: h = (1 - z) g(...) + z h', where r weighs the state before its product, or the product itself. */
final class GruCell extends RecurrentCell {
    private final List<Unary> activations;
    private final boolean linearBeforeReset;
    private final Part gates;
    private final Part candidate;

    GruCell(RecurrentShape shape, Gru op) {
        super(shape);
        this.activations = op.activations().stream().map(RecurrentCell::unary).toList();
        this.linearBeforeReset = op.linearBeforeReset();
        this.gates = new Part(0, 2 * hidden);
        this.candidate = new Part(2 * hidden, 3 * hidden);
    }

    @Override
    List<Part> parts() {
        return List.of(gates, candidate);
    }

    /** The state weighed by r, or its product for the candidate. */
    @Override
    int workElements() {
        return hidden;
    }

    @Override
    int separateBias() {
        return linearBeforeReset ? 2 * hidden : shape.rows();
    }

    @Override
    void step(CpuFrame frame, RecurrentProducts products, RecurrentUnit unit, long sums, int t) {
        int d = unit.direction();
        int count = unit.count();
        int rows = shape.rows();
        int width = shape.width();
        MemorySegment memory = unit.memory();
        long third = sums + 2L * hidden * width;
        products.recur(frame, unit, gates, unit.states(), true, sums, rows);
        for (int b = 0; b < count; b++) {
            activate(activations.get(2 * d), memory, sums + (long) b * rows * width, 2 * hidden);
        }
        if (linearBeforeReset) {
            products.recur(frame, unit, candidate, unit.states(), false, unit.work(), hidden);
        }
        for (int b = 0; b < count; b++) {
            reset(frame, d, memory, sums + (long) b * rows * width, unit, (long) b * hidden * width);
        }
        if (!linearBeforeReset) {
            products.recur(frame, unit, candidate, unit.work(), true, third, rows);
        }
        for (int b = 0; b < count; b++) {
            if (goesOn(frame, unit.first() + b, t)) {
                long row = sums + (long) b * rows * width;
                next(d, memory, row, unit.states() + (long) b * hidden * width);
            }
        }
    }

    /**
     * Applies r: to the state, for its product to come; or to the product, which is then added to the candidate's
     * argument.
     */
    private void reset(CpuFrame frame, int d, MemorySegment memory, long row, RecurrentUnit unit, long offset) {
        long r = row + (long) hidden * shape.width();
        long argument = row + 2L * hidden * shape.width();
        for (int i = 0; i < hidden; i++) {
            double weight = shape.get(memory, r, i);
            if (linearBeforeReset) {
                double recurrent = shape.get(memory, unit.work() + offset, i) + recurrentBias(frame, d, i);
                shape.set(memory, argument, i, shape.get(memory, argument, i) + weight * recurrent);
            } else {
                shape.set(memory, unit.work() + offset, i, weight * shape.get(memory, unit.states() + offset, i));
            }
        }
    }

    private double recurrentBias(CpuFrame frame, int d, int i) {
        return shape.bias() < 0
                ? 0
                : Elements.getDouble(shape.dtype(), frame.at(shape.bias()), (6L * d + 5) * hidden + i);
    }

    private void next(int d, MemorySegment memory, long row, long state) {
        long argument = row + 2L * hidden * shape.width();
        activate(activations.get(2 * d + 1), memory, argument, hidden);
        for (int i = 0; i < hidden; i++) {
            double z = shape.get(memory, row, i);
            double value = (1 - z) * shape.get(memory, argument, i) + z * shape.get(memory, state, i);
            shape.set(memory, state, i, value);
        }
    }
}
