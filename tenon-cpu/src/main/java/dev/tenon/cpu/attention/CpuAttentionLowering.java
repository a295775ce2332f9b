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
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.RaggedAttention;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import java.util.List;

/** Attention and rotary embedding. */
public final class CpuAttentionLowering {
    /** Keys of a head are packed whole, in each worker's memory. */
    private static final long MOST_KEYS = 1 << 15;

    private static final long MOST_SIZE = 1 << 10;

    /** Fewer queries of more keys, a cache's, would pay for the cache's transposition to tokens before heads. */
    private static final long FEW_QUERIES = 4;

    private static final long MANY_KEYS = 64;

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

    /**
     * Whether a node runs as it is: f32, of heads that are not too large, of keys that are not too many, and not of a
     * few queries of a cache.
     */
    public static boolean claims(PlainAttention op, Node node) {
        Dim heads = node.output().shape().dim(2);
        Dim size = node.input(0).shape().dims().getLast();
        Dim sizeV = node.output().shape().dim(3);
        Dim keys = node.input(op.packed() ? 0 : 1).shape().dim(1);
        Dim queries = node.output().shape().dim(1);
        boolean decodes =
                queries.isFixed() && queries.size() < FEW_QUERIES && keys.isFixed() && keys.size() > MANY_KEYS;
        return node.output().dtype() == DType.F32
                && !decodes
                && heads.isFixed()
                && size.isFixed()
                && sizeV.isFixed()
                && heads.size() > 0
                && Math.max(size.size(), sizeV.size()) <= MOST_SIZE
                && !(keys.isFixed() && keys.size() > MOST_KEYS);
    }

    public static CpuStep lower(PlainAttention op, Node node, CpuLoweringContext context) {
        Shape y = node.output().shape();
        int keys = SizeMath.toInt(
                "attention", node.input(op.packed() ? 0 : 1).shape().size(1));
        PlainAttentionStep.Rows[] rows = new PlainAttentionStep.Rows[4];
        for (int i = 0; i < 3; i++) {
            Value value = node.input(op.packed() ? 0 : i);
            Shape shape = value.shape();
            int size = SizeMath.toInt("attention", shape.size(shape.rank() - 1));
            long part = SizeMath.product("attention", shape.size(shape.rank() - 2), size);
            long token = op.packed() ? 3 * part : part;
            rows[i] = new PlainAttentionStep.Rows(
                    context.slot(value),
                    op.packed() ? i * part : 0,
                    SizeMath.product("attention", shape.size(1), token),
                    token,
                    size);
        }
        int size = SizeMath.toInt("attention", y.size(3));
        rows[3] = new PlainAttentionStep.Rows(context.slot(node.output()), 0, y.elements(1, 4), y.elements(2, 4), size);
        PlainAttentionStep.Sizes sizes = new PlainAttentionStep.Sizes(y.size(0), y.size(2), y.size(1), keys);
        PlainAttentionStep.Mask mask =
                op.mask() ? mask(node.inputs().getLast(), sizes, context) : PlainAttentionStep.Mask.NONE;
        return new PlainAttentionStep(op, sizes, rows, mask, context.threads());
    }

    /** The mask's steps along [batch, head, query, key]; the key's is 0 or 1. */
    private static PlainAttentionStep.Mask mask(
            Value mask, PlainAttentionStep.Sizes sizes, CpuLoweringContext context) {
        Shape shape = mask.shape();
        long[] steps = new long[4];
        long step = 1;
        for (int axis = 3; axis >= 0; axis--) {
            int own = axis - 4 + shape.rank();
            long size = own < 0 ? 1 : shape.size(own);
            steps[axis] = size == 1 ? 0 : step;
            step *= size;
        }
        boolean single = steps[3] == 0 && sizes.keys() > 1;
        return new PlainAttentionStep.Mask(context.slot(mask), steps[0], steps[1], steps[2], single);
    }

    public static CpuStep lower(Rope op, Node node, CpuLoweringContext context) {
        return new RopeStep(op, node, context);
    }

    public static CpuStep lower(RaggedAttention op, Node node, CpuLoweringContext context) {
        return new RaggedAttentionStep(op, node, context);
    }
}
