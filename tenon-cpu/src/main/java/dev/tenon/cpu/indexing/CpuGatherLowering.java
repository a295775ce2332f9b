package dev.tenon.cpu.indexing;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;

/** Reads from places that indices name. */
public final class CpuGatherLowering {
    private CpuGatherLowering() {}

    public static CpuStep lower(Gather op, Node node, CpuLoweringContext context) {
        return new GatherStep(op, node, context);
    }

    public static CpuStep lower(GatherElements op, Node node, CpuLoweringContext context) {
        return new GatherElementsStep(op, node, context);
    }

    public static CpuStep lower(GatherNd op, Node node, CpuLoweringContext context) {
        return new GatherNdStep(op, node, context);
    }

    public static CpuStep lower(OneHot op, Node node, CpuLoweringContext context) {
        return new OneHotStep(op, node, context);
    }
}
