package dev.tenon.cpu.attention;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import java.util.List;

/** Attention and rotary embedding. */
public final class CpuAttentionLowering {
    private CpuAttentionLowering() {}

    public static CpuStep lower(Attention op, Node node, CpuLoweringContext context) {
        Shape q = node.input(0).shape();
        Shape k = node.input(1).shape();
        Shape scores = Shape.of(q.size(0), q.size(1), q.size(2), k.size(2));
        boolean masked = op.mask() != AttentionMask.NONE;
        AttentionRows rows = new AttentionRows(
                op,
                node.input(0).dtype(),
                q.size(0),
                q.size(1),
                k.size(1),
                q.size(2),
                k.size(2),
                SizeMath.toInt("attention", q.size(3)),
                SizeMath.toInt("attention", node.input(2).shape().size(3)),
                masked ? Broadcast.of(scores, List.of(node.input(3).shape())) : null,
                context.slot(node.input(0)),
                context.slot(node.input(1)),
                context.slot(node.input(2)),
                masked ? context.slot(node.input(3)) : -1,
                context.slot(node.output()));
        return rows.dtype() == DType.F64 ? rows : new AttentionStep(rows, context.threads());
    }

    public static CpuStep lower(Rope op, Node node, CpuLoweringContext context) {
        Value x = node.input(0);
        Shape shape = x.shape();
        int last = shape.rank() - 1;
        long size = shape.size(last);
        int pairs = SizeMath.toInt("attention", (op.rotaryDim() == 0 ? size : op.rotaryDim()) / 2);
        Broadcast angles = Broadcast.of(
                shape.with(last, Dim.of(pairs)),
                List.of(node.input(1).shape(), node.input(2).shape()));
        int[] slots = {
            context.slot(x), context.slot(node.input(1)), context.slot(node.input(2)), context.slot(node.output())
        };
        return new RopeStep(
                op.interleaved(),
                x.dtype(),
                size == 0 ? 0 : shape.elements() / size,
                SizeMath.toInt("attention", size),
                pairs,
                angles,
                slots);
    }
}
