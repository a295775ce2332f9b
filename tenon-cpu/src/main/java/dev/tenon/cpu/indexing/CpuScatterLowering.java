package dev.tenon.cpu.indexing;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;

/** Writes to places that indices name, in the order of the indices whatever the number of threads. */
public final class CpuScatterLowering {
    private CpuScatterLowering() {}

    public static CpuStep lower(ScatterElements op, Node node, CpuLoweringContext context) {
        return new ScatterElementsStep(op, node, context);
    }

    public static CpuStep lower(ScatterNd op, Node node, CpuLoweringContext context) {
        return new ScatterNdStep(op, node, context);
    }
}
