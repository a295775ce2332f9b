package dev.tenon.cpu;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.Gather;
import dev.tenon.core.ir.op.GatherElements;
import dev.tenon.core.ir.op.GatherNd;
import dev.tenon.core.ir.op.OneHot;

/** Reads from places that indices name. */
final class GatherLowering {
    private GatherLowering() {}

    static Step lower(Gather op, Node node, LoweringContext context) {
        return new GatherStep(op, node, context);
    }

    static Step lower(GatherElements op, Node node, LoweringContext context) {
        return new GatherElementsStep(op, node, context);
    }

    static Step lower(GatherNd op, Node node, LoweringContext context) {
        return new GatherNdStep(op, node, context);
    }

    static Step lower(OneHot op, Node node, LoweringContext context) {
        return new OneHotStep(op, node, context);
    }
}
