package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.AttentionKernels;
import dev.tenon.cuda.kernel.AttentionKernels.Mask;
import dev.tenon.cuda.kernel.AttentionKernels.MaskStrides;
import dev.tenon.cuda.kernel.AttentionKernels.Problem;
import dev.tenon.cuda.kernel.AttentionKernels.Strides;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Attention in one launch: on tensor cores, else by the plain kernel. */
public final class GpuAttentionLowering {
    private GpuAttentionLowering() {}

    public static Lowered lower(PlainAttention op, Node node, GpuLoweringContext context) {
        boolean packed = op.packed();
        Shape q = node.input(0).shape();
        Shape k = packed ? q : node.input(1).shape();
        Shape v = packed ? q : node.input(2).shape();
        // packed operands are [B,L,3,H,D], others [B,L,H,D]
        int head = packed ? 3 : 2;
        Value mask = op.mask() ? node.inputs().getLast() : null;
        Problem problem = new Problem(
                node.output().dtype(),
                q.size(0),
                q.size(head),
                1,
                q.size(1),
                v.size(1),
                SizeMath.toInt("attention", q.size(head + 1)),
                SizeMath.toInt("attention", v.size(head + 1)),
                strides(q, 1, head),
                strides(k, 1, head),
                strides(v, 1, head),
                strides(node.output().shape(), 1, 2),
                op.mask() ? Mask.ADDED : Mask.NONE,
                maskStrides(mask),
                false,
                0,
                op.scale(),
                0,
                true);
        int first = context.slot(node.input(0));
        long part = packed ? node.output().dtype().bytesFor(q.elements(head, q.rank())) : 0;
        Operands operands = packed
                ? new Operands(first, first, first, part, 2 * part)
                : new Operands(first, context.slot(node.input(1)), context.slot(node.input(2)), 0, 0);
        return step(problem, operands, mask, node, context);
    }

    public static Lowered lower(Attention op, Node node, GpuLoweringContext context) {
        Shape q = node.input(0).shape();
        Shape k = node.input(1).shape();
        Shape v = node.input(2).shape();
        Mask mask = switch (op.mask()) {
            case NONE -> Mask.NONE;
            case ADDITIVE -> Mask.ADDED;
            case BOOLEAN -> Mask.BOOLEAN;
        };
        Problem problem = new Problem(
                node.output().dtype(),
                q.size(0),
                q.size(1),
                SizeMath.toInt("attention", q.size(1) / Math.max(1, k.size(1))),
                q.size(2),
                k.size(2),
                SizeMath.toInt("attention", q.size(3)),
                SizeMath.toInt("attention", v.size(3)),
                strides(q, 2, 1),
                strides(k, 2, 1),
                strides(v, 2, 1),
                strides(node.output().shape(), 2, 1),
                mask,
                maskStrides(op.mask() == AttentionMask.NONE ? null : node.input(3)),
                op.causal(),
                op.window(),
                op.scaleFor(q.size(3)),
                op.softCap(),
                false);
        Operands operands = new Operands(
                context.slot(node.input(0)), context.slot(node.input(1)), context.slot(node.input(2)), 0, 0);
        return step(problem, operands, mask == Mask.NONE ? null : node.input(3), node, context);
    }

    /** Where q, k and v are: their slots, and how many bytes into them k and v start. */
    private record Operands(int q, int k, int v, long kStart, long vStart) {}

    private static Lowered step(
            Problem problem, Operands operands, @Nullable Value mask, Node node, GpuLoweringContext context) {
        if (node.output().shape().elements() == 0) {
            return new NoWork("none: the result is empty");
        }
        AttentionKernels kernels = new AttentionKernels(context.kernels());
        String reason = problem.dtype() == DType.F32 && context.precision() == Precision.STRICT
                ? "f32 is asked for, not TF32"
                : AttentionKernels.refusal(problem, context.kernels().context().device());
        boolean tensorCores = reason.isEmpty();
        String refusal = tensorCores
                ? ""
                : AttentionKernels.scalarRefusal(
                        problem, context.kernels().context().device());
        if (!refusal.isEmpty()) {
            return new NoKernel(refusal);
        }
        AttentionKernels.Launch launch = tensorCores ? kernels.tensorCores(problem) : kernels.scalar(problem);
        String type = tensorCores && problem.dtype() == DType.F32
                ? "TF32"
                : problem.dtype().toString();
        return new AttentionStep(
                launch,
                launch.entry() + ", " + type,
                tensorCores ? List.of() : List.of("attention_mma: " + reason),
                operands,
                mask == null ? -1 : context.slot(mask),
                context.slot(node.output()));
    }

    private record AttentionStep(
            AttentionKernels.Launch launch, String tier, List<String> passedOver, Operands from, int mask, int y)
            implements GpuStep {
        @Override
        public void enqueue(GpuFrame frame) {
            launch.enqueue(
                    frame.stream(),
                    frame.arguments(),
                    frame.at(from.q()),
                    frame.at(from.k()) + from.kStart(),
                    frame.at(from.v()) + from.vStart(),
                    mask < 0 ? 0 : frame.at(mask),
                    frame.at(y));
        }
    }

    private static Strides strides(Shape shape, int token, int head) {
        long[] all = shape.strides();
        return new Strides(all[0], all[token], all[head]);
    }

    private static MaskStrides maskStrides(@Nullable Value given) {
        long[] strides = new long[4];
        if (given != null) {
            Shape mask = given.shape();
            long[] own = mask.strides();
            int lead = strides.length - mask.rank();
            for (int axis = 0; axis < mask.rank(); axis++) {
                strides[lead + axis] = mask.size(axis) == 1 ? 0 : own[axis];
            }
        }
        return new MaskStrides(strides[0], strides[1], strides[2], strides[3]);
    }
}
