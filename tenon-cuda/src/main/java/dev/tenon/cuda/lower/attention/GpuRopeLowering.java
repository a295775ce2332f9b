package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.MovementKernels;
import dev.tenon.cuda.kernel.WalkStruct;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import java.util.List;

/** Rotary position embeddings. */
public final class GpuRopeLowering {
    private GpuRopeLowering() {}

    /** The step of an embedding of concrete sizes, or why no kernel takes it. */
    public static Lowered lower(Rope op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        if (x.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        int last = x.rank() - 1;
        long size = x.size(last);
        long pairs = (op.rotaryDim() == 0 ? size : op.rotaryDim()) / 2;
        Shape angles = op.angles(x);
        Broadcast broadcast = Broadcast.of(
                angles, List.of(node.input(1).shape(), node.input(2).shape()));
        if (broadcast.sizes().length > MovementKernels.MOST_DIMS) {
            return new NoKernel("kernels walk at most " + MovementKernels.MOST_DIMS + " dims; cos and sin take "
                    + broadcast.sizes().length);
        }
        DType dtype = node.output().dtype();
        long pack = 16 / dtype.bytes();
        boolean packed = pairs % pack == 0 && size % pack == 0;
        String entry = packed ? "rope_v" : "rope";
        KernelVariant variant = WindowCatalog.rope(dtype, node.input(1).dtype());
        long all = op.rows() == 0 ? 1 : x.size(last - 1);
        PreparedLaunch launch = PreparedLaunch.of(
                        context.kernels().kernel(WindowCatalog.ROPE, entry, variant),
                        Grids.of(Math.max(1, x.elements() / (packed ? 2 * pack : 2))))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.input(2)))
                .value(context.slot(node.output()))
                .add(angles.elements(0, last))
                .add(Math.max(1, op.rows()))
                .add(all)
                .add(size)
                .add(pairs)
                .add(op.interleaved())
                .struct(WalkStruct.of(2, broadcast, 2), WalkStruct.ALIGNMENT)
                .build();
        return LaunchStep.of(entry + (packed ? ", " + pack + " pairs a thread" : ", a pair a thread"), launch);
    }
}
