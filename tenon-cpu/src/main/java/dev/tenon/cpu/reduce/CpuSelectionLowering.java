package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.cpu.keys.Keys;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Lanes;

/** What runs along the lanes of one axis in order: places of extremes, the largest few, running sums. */
public final class CpuSelectionLowering {
    private CpuSelectionLowering() {}

    public static CpuStep lower(ArgReduce op, Node node, CpuLoweringContext context) {
        DType dtype = node.input(0).dtype();
        Lanes lanes = new Lanes(node.input(0).shape(), op.axis());
        if (lanes.stride == 1 && Keys.has(dtype)) {
            return new ArgRowStep(op, node, context);
        }
        return dtype == DType.F32 && lanes.count > 0 && lanes.size <= Integer.MAX_VALUE
                ? new ArgColumnStep(op, node, lanes, context)
                : new ArgReduceStep(op, node, context);
    }

    public static CpuStep lower(Cumulative op, Node node, CpuLoweringContext context) {
        return new CumulativeStep(op, node, context);
    }

    public static CpuStep lower(TopK op, Node node, CpuLoweringContext context) {
        return new TopKStep(op, node, context);
    }
}
