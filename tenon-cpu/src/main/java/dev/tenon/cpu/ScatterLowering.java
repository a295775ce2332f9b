package dev.tenon.cpu;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.ScatterElements;
import dev.tenon.core.ir.op.ScatterNd;

/** Writes to places that indices name, in the order of the indices whatever the number of threads. */
final class ScatterLowering {
    private ScatterLowering() {}

    static Step lower(ScatterElements op, Node node, LoweringContext context) {
        return new ScatterElementsStep(op, node, context);
    }

    static Step lower(ScatterNd op, Node node, LoweringContext context) {
        return new ScatterNdStep(op, node, context);
    }
}
