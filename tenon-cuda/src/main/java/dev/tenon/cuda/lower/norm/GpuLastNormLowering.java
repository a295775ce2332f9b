package dev.tenon.cuda.lower.norm;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.convolution.ChannelsLastNorm;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** Norms of groups of channels, which lie innermost: sums of parts, their scales, the norm. */
public final class GpuLastNormLowering {
    private static final int THREADS = 256;
    private static final int CHUNK_BYTES = 16;
    private static final int MOST_LANES = 8;
    /** Positions of a part for each of its lines; fewer do not pay for their sums. */
    private static final long POSITIONS_A_LINE = 4;

    private static final long BLOCKS_A_MULTIPROCESSOR = 4;
    private static final int ALIGNMENT = 256;

    private GpuLastNormLowering() {}

    /** Whether the kernels take a node of concrete types. */
    public static boolean claims(Node node) {
        Shape x = node.input(0).shape();
        DType dtype = node.input(0).dtype();
        return x.isConcrete() && dtype != DType.F64 && dtype.bytesFor(x.size(x.rank() - 1)) % CHUNK_BYTES == 0;
    }

    /** The steps of a norm, or why no kernel takes it. */
    public static Lowered lower(ChannelsLastNorm op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        if (!claims(node)) {
            return new NoKernel(
                    "channels of " + node.input(0).type() + " are not whole packs of 16 bytes of 32 or 16 bits");
        }
        if (x.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        DType dtype = node.input(0).dtype();
        long images = x.size(0);
        long channels = x.size(x.rank() - 1);
        long count = x.elements(1, x.rank() - 1);
        long group = channels / op.groups();
        long packs = dtype.bytesFor(channels) / CHUNK_BYTES;
        int lanes = (int) Math.min(MOST_LANES, Long.highestOneBit(packs));
        long wide = Math.min(Math.ceilDiv(packs, lanes), GridLimits.YZ);
        long high = Math.min(images, GridLimits.YZ);
        long blocks =
                BLOCKS_A_MULTIPROCESSOR * context.kernels().context().device().multiprocessors();
        long most = Math.ceilDiv(count, THREADS / lanes * POSITIONS_A_LINE);
        long each = Math.ceilDiv(count, Math.clamp(blocks / (wide * high), 1, most));
        int parts = SizeMath.toInt(op.mnemonic(), Math.ceilDiv(count, each));
        long sumBytes = SizeMath.roundUp(
                op.mnemonic(),
                SizeMath.product(op.mnemonic(), images, parts, SizeMath.product(op.mnemonic(), channels, 8)),
                ALIGNMENT);
        PreparedLaunch sums = PreparedLaunch.of(
                        kernel("channel_norm_sums", dtype, context),
                        LaunchShape.of(parts, (int) wide, (int) high, THREADS).withProgrammatic())
                .value(context.slot(node.input(0)))
                .workspace(0)
                .addAll(images, count, channels, each, group)
                .add(lanes)
                .build();
        long rows = SizeMath.product(op.mnemonic(), images, op.groups());
        PreparedLaunch scales = PreparedLaunch.of(
                        kernel("channel_norm_scales", dtype, context),
                        LaunchShape.of((int) Math.min(rows, Integer.MAX_VALUE), THREADS)
                                .withProgrammatic())
                .workspace(0)
                .workspace(sumBytes)
                .addAll(images, count, channels, parts, group)
                .compute(dtype, op.epsilon())
                .build();
        return LaunchStep.of(
                "channel_norm, " + parts + (parts == 1 ? " part" : " parts") + " an image, channels last",
                List.of(sums, scales, apply(op, node, sumBytes, context)),
                SizeMath.sum(op.mnemonic(), sumBytes, SizeMath.product(op.mnemonic(), rows, 8)));
    }

    private static PreparedLaunch apply(ChannelsLastNorm op, Node node, long shifts, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        DType dtype = node.input(0).dtype();
        long images = x.size(0);
        long channels = x.size(x.rank() - 1);
        long count = x.elements(1, x.rank() - 1);
        return PreparedLaunch.of(
                        kernel("channel_norm_apply", dtype, context),
                        Grids.of(x.elements() / (CHUNK_BYTES / dtype.bytes())).withProgrammatic())
                .value(context.slot(node.input(0)))
                .value(op.affine() ? context.slot(node.input(1)) : -1)
                .value(op.affine() ? context.slot(node.input(2)) : -1)
                .workspace(shifts)
                .value(context.slot(node.output()))
                .addAll(images, count, channels, channels / op.groups())
                .build();
    }

    private static Kernel kernel(String entry, DType dtype, GpuLoweringContext context) {
        return context.kernels().kernel(WindowCatalog.CHANNEL_NORM_LAST, entry, KernelVariant.of(dtype));
    }
}
