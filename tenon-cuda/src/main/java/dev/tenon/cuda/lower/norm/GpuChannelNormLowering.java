package dev.tenon.cuda.lower.norm;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LocalResponseNorm;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** Norms whose scale, bias or window goes by channel. */
public final class GpuChannelNormLowering {
    private static final int WARP = 32;
    private static final int MOST_THREADS = 512;
    /** Bytes of a row that a thread reads before another one is worth it. */
    private static final long BYTES_A_THREAD = 64;
    /** Bytes of a part of a row; shorter parts do not pay for a second launch. */
    private static final long BYTES_A_PART = 64 << 10;

    private static final int BLOCKS_A_MULTIPROCESSOR = 2;
    /** Numbers of LayerNormRule's state. */
    private static final int STATE_NUMBERS = 4;

    private GpuChannelNormLowering() {}

    /** Rows at once, or in parts where they are too few to fill the device. */
    public static GpuStep lower(InstanceNorm op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        if (x.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        DType dtype = node.output().dtype();
        long rows = x.elements(0, 2);
        long cols = x.elements(2, x.rank());
        long bytes = SizeMath.product("instance_norm", cols, dtype.bytes());
        int multiprocessors = context.kernels().context().device().multiprocessors();
        long wanted = Math.min((long) BLOCKS_A_MULTIPROCESSOR * multiprocessors / rows, bytes / BYTES_A_PART);
        int threads = threads(bytes);
        if (wanted < 2) {
            PreparedLaunch launch = operands(
                            PreparedLaunch.of(
                                    kernel("instance_norm", dtype, context),
                                    LaunchShape.of((int) Math.min(rows, Integer.MAX_VALUE), threads)),
                            node,
                            context)
                    .add(rows)
                    .add(cols)
                    .add(x.size(1))
                    .compute(dtype, op.epsilon())
                    .build();
            return LaunchStep.of("instance_norm, " + threads + " threads a row", launch);
        }
        return inParts(op, node, context, wanted);
    }

    private static GpuStep inParts(InstanceNorm op, Node node, GpuLoweringContext context, long wanted) {
        Shape x = node.input(0).shape();
        DType dtype = node.output().dtype();
        long rows = x.elements(0, 2);
        long cols = x.elements(2, x.rank());
        long pack = 16 / dtype.bytes();
        long each = SizeMath.roundUp("instance_norm", Math.ceilDiv(cols, wanted), pack);
        int parts = SizeMath.toInt("instance_norm", Math.ceilDiv(cols, each));
        LaunchShape shape = LaunchShape.of(parts, (int) Math.min(rows, GridLimits.YZ), 1, MOST_THREADS);
        PreparedLaunch states = PreparedLaunch.of(kernel("instance_norm_parts", dtype, context), shape)
                .value(context.slot(node.input(0)))
                .workspace(0)
                .add(rows)
                .add(cols)
                .add(each)
                .build();
        PreparedLaunch apply = operands(
                        PreparedLaunch.of(kernel("instance_norm_apply", dtype, context), shape), node, context)
                .workspace(0)
                .add(rows)
                .add(cols)
                .add(x.size(1))
                .add(each)
                .compute(dtype, op.epsilon())
                .build();
        long bytes = SizeMath.product("instance_norm", rows, parts, STATE_NUMBERS * 8L);
        return LaunchStep.of("instance_norm, " + parts + " parts a row", List.of(states, apply), bytes);
    }

    private static Kernel kernel(String entry, DType dtype, GpuLoweringContext context) {
        return context.kernels().kernel(WindowCatalog.INSTANCE_NORM, entry, KernelVariant.of(dtype));
    }

    private static PreparedLaunch.Builder operands(
            PreparedLaunch.Builder launch, Node node, GpuLoweringContext context) {
        return launch.value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.input(2)))
                .value(context.slot(node.output()));
    }

    private static int threads(long bytes) {
        return Math.clamp(Long.highestOneBit(Math.max(1, bytes / BYTES_A_THREAD)), WARP, MOST_THREADS);
    }

    /** Sums of squares over neighbouring channels. */
    public static GpuStep lower(LocalResponseNorm op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        if (x.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        DType dtype = node.output().dtype();
        PreparedLaunch launch = PreparedLaunch.of(
                        context.kernels()
                                .kernel(
                                        WindowCatalog.LOCAL_RESPONSE_NORM,
                                        "local_response_norm",
                                        KernelVariant.of(dtype)),
                        Grids.of(x.elements()))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.output()))
                .add(x.elements())
                .add(x.size(1))
                .add(x.elements(2, x.rank()))
                .add(op.size())
                .compute(dtype, op.alpha() / op.size())
                .compute(dtype, op.beta())
                .compute(dtype, op.bias())
                .build();
        return LaunchStep.of("local_response_norm, a thread a result", launch);
    }
}
