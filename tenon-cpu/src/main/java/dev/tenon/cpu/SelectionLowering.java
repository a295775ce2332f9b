package dev.tenon.cpu;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.ArgReduce;
import dev.tenon.core.ir.op.Cumulative;
import dev.tenon.core.ir.op.TopK;

/** What runs along the lanes of one axis in order: places of extremes, the largest few, running sums. */
final class SelectionLowering {
    private SelectionLowering() {}

    static Step lower(ArgReduce op, Node node, LoweringContext context) {
        return new ArgReduceStep(op, node, context);
    }

    static Step lower(Cumulative op, Node node, LoweringContext context) {
        return new CumulativeStep(op, node, context);
    }

    static Step lower(TopK op, Node node, LoweringContext context) {
        return new TopKStep(op, node, context);
    }
}
