package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.state.Gru;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.core.ir.op.state.Rnn;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;

/** Recurrent layers: one walk over time, three kinds of cell, two ways to multiply. */
public final class CpuRecurrentLowering {
    private CpuRecurrentLowering() {}

    public static CpuStep lower(Lstm op, Node node, CpuLoweringContext context) {
        RecurrentShape shape = new RecurrentShape.Builder(node, context, op.direction(), op.hidden(), 4)
                .options(op.clip(), op.batchFirst())
                .inputs(op.bias(), op.lengths(), op.initialHidden(), op.initialCell(), op.peephole())
                .build();
        return step(shape, new LstmCell(shape, op), node, context);
    }

    public static CpuStep lower(Gru op, Node node, CpuLoweringContext context) {
        RecurrentShape shape = new RecurrentShape.Builder(node, context, op.direction(), op.hidden(), 3)
                .options(op.clip(), op.batchFirst())
                .inputs(op.bias(), op.lengths(), op.initialHidden(), false, false)
                .build();
        return step(shape, new GruCell(shape, op), node, context);
    }

    public static CpuStep lower(Rnn op, Node node, CpuLoweringContext context) {
        RecurrentShape shape = new RecurrentShape.Builder(node, context, op.direction(), op.hidden(), 1)
                .options(op.clip(), op.batchFirst())
                .inputs(op.bias(), op.lengths(), op.initialHidden(), false, false)
                .build();
        return step(shape, new RnnCell(shape, op), node, context);
    }

    private static CpuStep step(RecurrentShape shape, RecurrentCell cell, Node node, CpuLoweringContext context) {
        RecurrentProducts products = shape.dtype() == DType.F32
                ? new GemmRecurrentProducts(shape, cell.parts(), node, context)
                : new DirectRecurrentProducts(shape);
        return new RecurrentStep(shape, cell, products, node, context);
    }
}
