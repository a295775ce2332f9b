package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.cuda.lower.attention.AttentionProblem.Formula;
import dev.tenon.cuda.lower.attention.AttentionProblem.Mask;
import dev.tenon.cuda.lower.attention.AttentionProblem.MaskStrides;
import dev.tenon.cuda.lower.attention.AttentionProblem.Operands;
import dev.tenon.cuda.lower.attention.AttentionProblem.Strides;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoWork;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Attention by cuDNN, else in one launch of our kernels: on tensor cores, else by the plain one. */
public final class GpuAttentionLowering {
    private static final String NAME = "attention";

    private GpuAttentionLowering() {}

    public static Lowered lower(PlainAttention op, Node node, GpuLoweringContext context) {
        boolean packed = op.packed();
        Shape q = node.input(0).shape();
        Shape k = packed ? q : node.input(1).shape();
        Shape v = packed ? q : node.input(2).shape();
        // packed operands are [B,L,3,H,D], others [B,L,H,D]
        int head = packed ? 3 : 2;
        Value mask = op.mask() ? node.inputs().getLast() : null;
        AttentionProblem problem = new AttentionProblem(
                node.output().dtype(),
                q.size(0),
                q.size(head),
                1,
                q.size(1),
                v.size(1),
                SizeMath.toInt(NAME, q.size(head + 1)),
                SizeMath.toInt(NAME, v.size(head + 1)),
                Strides.of(q, 1, head),
                Strides.of(k, 1, head),
                Strides.of(v, 1, head),
                Strides.of(node.output().shape(), 1, 2),
                op.mask() ? Mask.ADDED : Mask.NONE,
                MaskStrides.of(mask),
                false,
                0,
                op.scale(),
                0,
                op.guarded() ? Formula.GUARDED : Formula.PLAIN);
        int first = context.slot(node.input(0));
        long part = packed ? node.output().dtype().bytesFor(q.elements(head, q.rank())) : 0;
        int maskSlot = slot(mask, context);
        int y = context.slot(node.output());
        Operands operands = packed
                ? new Operands(first, first, first, part, 2 * part, maskSlot, y)
                : new Operands(first, context.slot(node.input(1)), context.slot(node.input(2)), 0, 0, maskSlot, y);
        return lower(problem, operands, node, context);
    }

    public static Lowered lower(Attention op, Node node, GpuLoweringContext context) {
        Shape q = node.input(0).shape();
        Shape k = node.input(1).shape();
        Shape v = node.input(2).shape();
        Mask kind = switch (op.mask()) {
            case NONE -> Mask.NONE;
            case ADDITIVE -> Mask.ADDED;
            case BOOLEAN -> Mask.BOOLEAN;
        };
        Value mask = op.mask() == AttentionMask.NONE ? null : node.input(3);
        AttentionProblem problem = new AttentionProblem(
                node.output().dtype(),
                q.size(0),
                q.size(1),
                SizeMath.toInt(NAME, q.size(1) / Math.max(1, k.size(1))),
                q.size(2),
                k.size(2),
                SizeMath.toInt(NAME, q.size(3)),
                SizeMath.toInt(NAME, v.size(3)),
                Strides.of(q, 2, 1),
                Strides.of(k, 2, 1),
                Strides.of(v, 2, 1),
                Strides.of(node.output().shape(), 2, 1),
                kind,
                MaskStrides.of(mask),
                op.causal(),
                op.window(),
                op.scaleFor(q.size(3)),
                op.softCap(),
                Formula.SEEN_ALONE);
        Operands operands = new Operands(
                context.slot(node.input(0)),
                context.slot(node.input(1)),
                context.slot(node.input(2)),
                0,
                0,
                slot(mask, context),
                context.slot(node.output()));
        return lower(problem, operands, node, context);
    }

    private static int slot(@Nullable Value mask, GpuLoweringContext context) {
        return mask == null ? -1 : context.slot(mask);
    }

    private static Lowered lower(AttentionProblem problem, Operands operands, Node node, GpuLoweringContext context) {
        if (node.output().shape().elements() == 0) {
            return new NoWork("none: the result is empty");
        }
        List<String> passedOver = new ArrayList<>();
        AttentionTiers tiers = new AttentionTiers(problem, operands, context, passedOver);
        GpuStep step = DnnAttentionStep.step(problem, operands, context, tiers.beforeLibrary(), passedOver);
        return step != null ? step : tiers.lower();
    }
}
