package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.state.Rnn;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import java.util.List;

/** h = f(W x + R h' + b). */
final class RnnCell extends RecurrentCell {
    private final List<Unary> activations;
    private final Part all;

    RnnCell(RecurrentShape shape, Rnn op) {
        super(shape);
        this.activations = op.activations().stream().map(RecurrentCell::unary).toList();
        this.all = new Part(0, hidden);
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
        int d = unit.direction();
        long row = (long) hidden * shape.width();
        products.recur(frame, unit, all, unit.states(), true, sums, hidden);
        for (int b = 0; b < unit.count(); b++) {
            if (goesOn(frame, unit.first() + b, t)) {
                long from = sums + b * row;
                activate(activations.get(d), unit.memory(), from, hidden);
                Raw.copy(unit.memory(), from, unit.memory(), unit.states() + b * row, row);
            }
        }
    }
}
