package dev.tenon.cpu.indexing;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.cpu.step.LoweringContext;
import dev.tenon.cpu.step.Step;

/** Reads from places that indices name. */
public final class GatherLowering {
    private GatherLowering() {}

    public static Step lower(Gather op, Node node, LoweringContext context) {
        return new GatherStep(op, node, context);
    }

    public static Step lower(GatherElements op, Node node, LoweringContext context) {
        return new GatherElementsStep(op, node, context);
    }

    public static Step lower(GatherNd op, Node node, LoweringContext context) {
        return new GatherNdStep(op, node, context);
    }

    public static Step lower(OneHot op, Node node, LoweringContext context) {
        return new OneHotStep(op, node, context);
    }
}
