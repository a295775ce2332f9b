package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.cpu.keys.Keys;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;

/** What runs along the lanes of one axis in order: places of extremes, the largest few, running sums. */
public final class CpuSelectionLowering {
    private CpuSelectionLowering() {}

    public static CpuStep lower(ArgReduce op, Node node, CpuLoweringContext context) {
        boolean rows = node.input(0)
                        .shape()
                        .elements(op.axis() + 1, node.input(0).shape().rank())
                == 1;
        return rows && Keys.has(node.input(0).dtype())
                ? new ArgRowStep(op, node, context)
                : new ArgReduceStep(op, node, context);
    }

    public static CpuStep lower(Cumulative op, Node node, CpuLoweringContext context) {
        return new CumulativeStep(op, node, context);
    }

    public static CpuStep lower(TopK op, Node node, CpuLoweringContext context) {
        return new TopKStep(op, node, context);
    }
}
