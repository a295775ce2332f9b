package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.attention.RaggedAttention;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoWork;

/** Attention of sequences of their own lengths: on tensor cores, keys in shares for few queries, else by threads. */
public final class GpuRaggedLowering {
    private GpuRaggedLowering() {}

    /** The step of an attention of concrete sizes, or why no kernel takes it. */
    public static Lowered lower(RaggedAttention op, Node node, GpuLoweringContext context) {
        Shape y = node.output().shape();
        return y.elements() == 0
                ? new NoWork("none: the result is empty")
                : new RaggedTiers(RaggedProblem.of(op, node, context), context).lower();
    }
}
