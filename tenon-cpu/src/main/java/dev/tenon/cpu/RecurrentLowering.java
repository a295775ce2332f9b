package dev.tenon.cpu;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.Gru;
import dev.tenon.core.ir.op.Lstm;
import dev.tenon.core.ir.op.Rnn;

/** Recurrent layers: one walk over time, three kinds of cell, two ways to multiply. */
final class RecurrentLowering {
    private RecurrentLowering() {}

    static Step lower(Lstm op, Node node, LoweringContext context) {
        RecurrentShape shape = new RecurrentShape.Builder(node, context, op.direction(), op.hidden(), 4)
                .options(op.clip(), op.batchFirst())
                .inputs(op.bias(), op.lengths(), op.initialHidden(), op.initialCell(), op.peephole())
                .build();
        return step(shape, new LstmCell(shape, op), node, context);
    }

    static Step lower(Gru op, Node node, LoweringContext context) {
        RecurrentShape shape = new RecurrentShape.Builder(node, context, op.direction(), op.hidden(), 3)
                .options(op.clip(), op.batchFirst())
                .inputs(op.bias(), op.lengths(), op.initialHidden(), false, false)
                .build();
        return step(shape, new GruCell(shape, op), node, context);
    }

    static Step lower(Rnn op, Node node, LoweringContext context) {
        RecurrentShape shape = new RecurrentShape.Builder(node, context, op.direction(), op.hidden(), 1)
                .options(op.clip(), op.batchFirst())
                .inputs(op.bias(), op.lengths(), op.initialHidden(), false, false)
                .build();
        return step(shape, new RnnCell(shape, op), node, context);
    }

    private static Step step(RecurrentShape shape, RecurrentCell cell, Node node, LoweringContext context) {
        RecurrentProducts products = shape.dtype() == DType.F32
                ? new GemmRecurrentProducts(shape, cell.parts(), node, context)
                : new DirectRecurrentProducts(shape);
        return new RecurrentStep(shape, cell, products, node, context);
    }
}
