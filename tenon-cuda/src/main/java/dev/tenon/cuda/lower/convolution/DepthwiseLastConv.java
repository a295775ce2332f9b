package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;

/**
 * Convolutions of each channel by itself with channels innermost: one launch, 16 bytes of channels per thread, for one
 * position of the result or, of usual windows and many results, for 2 of a row.
 */
final class DepthwiseLastConv {
    private static final int THREADS = 256;
    private static final int CHUNK_BYTES = 16;
    private static final long MOST_LANES = 8;
    private static final long MOST_CELLS = 128; // 34 KiB of shared memory
    private static final long TOGETHER = 2;
    /** Blocks of a multiprocessor that are in flight. */
    private static final long BLOCKS_A_MULTIPROCESSOR = 8;

    private static final long THREADS_A_MULTIPROCESSOR = 512;
    /** Places of an image are counted in 32 bits. */
    private static final long LARGE = 1L << 30;

    private DepthwiseLastConv() {}

    /** Why the kernel does not take a convolution; empty where it does. */
    static String refusal(ConvGeometry geometry, DType dtype) {
        if (!geometry.last() || geometry.axes().size() != 2 || geometry.channels() != 1 || geometry.outputs() != 1) {
            return "it is not of single channels in one or two dims";
        }
        if (dtype == DType.F64 || dtype.bytesFor(geometry.groups()) % CHUNK_BYTES != 0) {
            return geometry.groups() + " channels of " + dtype + " are not whole packs of 16 bytes";
        }
        long most = Math.max(geometry.area(), geometry.positions());
        boolean far = geometry.axes().stream()
                .anyMatch(axis -> axis.before() + axis.kernel() * axis.dilation() >= LARGE || axis.stride() >= LARGE);
        return geometry.cells() > MOST_CELLS
                ? "windows of more than " + MOST_CELLS + " cells"
                : most >= LARGE || far ? "places are counted in 32 bits" : "";
    }

    static LaunchStep step(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        ConvGeometry.Axis rows = geometry.axes().getFirst();
        ConvGeometry.Axis columns = geometry.axes().getLast();
        long packs = operands.dtype().bytesFor(geometry.groups()) / CHUNK_BYTES;
        long parts = Math.ceilDiv(packs, MOST_LANES);
        long lanes = Math.ceilDiv(packs, parts);
        long multiprocessors = context.kernels().context().device().multiprocessors();
        long lines = SizeMath.product("conv", geometry.batch(), rows.output());
        long pairs = SizeMath.product("conv", lines, Math.ceilDiv(columns.output(), TOGETHER));
        boolean usual = isUsual(rows, columns);
        boolean together = usual && SizeMath.estimate(pairs, packs) >= THREADS_A_MULTIPROCESSOR * multiprocessors;
        long pieces = together ? pairs : SizeMath.product("conv", lines, columns.output());
        long blocks = Math.ceilDiv(pieces, THREADS / lanes);
        long most = Math.max(1, Math.ceilDiv(BLOCKS_A_MULTIPROCESSOR * multiprocessors, parts));
        long channels = lanes * CHUNK_BYTES / operands.dtype().bytes();
        long cellBytes = channels * Float.BYTES + CHUNK_BYTES;
        int shared = SizeMath.toInt("conv", geometry.cells() * cellBytes);
        String entry = "conv_depthwise_last"
                + (usual ? "_k" + rows.kernel() + "s" + rows.stride() : "")
                + (usual && !together ? "_1" : "");
        LaunchShape shape = LaunchShape.of(
                        (int) Math.min(blocks, most), (int) Math.min(parts, GridLimits.YZ), 1, THREADS)
                .withSharedBytes(shared);
        PreparedLaunch.Builder launch = operands.launch(
                        context.kernels()
                                .kernel(
                                        WindowCatalog.CONV_DEPTHWISE_LAST,
                                        entry,
                                        KernelVariant.of(operands.dtype()),
                                        shared),
                        shape)
                .struct(words(geometry, lanes));
        return LaunchStep.of(
                "4 direct: " + entry + ", " + operands.dtype() + ", channels last" + operands.words(),
                operands.activation(launch).build());
    }

    /** Whether there is an entry for the windows. */
    static boolean isUsual(ConvGeometry.Axis rows, ConvGeometry.Axis columns) {
        long kernel = rows.kernel();
        long stride = rows.stride();
        return kernel == columns.kernel()
                && stride == columns.stride()
                && rows.dilation() == 1
                && columns.dilation() == 1
                && (((kernel == 3 || kernel == 5) && stride <= 2) || (kernel == 7 && stride == 1));
    }

    /** The struct DepthwiseLastSizes of conv_depthwise_last.cu. */
    private static long[] words(ConvGeometry geometry, long lanes) {
        ConvGeometry.Axis rows = geometry.axes().getFirst();
        ConvGeometry.Axis columns = geometry.axes().getLast();
        return new long[] {
            geometry.batch(),
            geometry.groups(),
            rows.input(),
            columns.input(),
            rows.output(),
            columns.output(),
            rows.before(),
            columns.before(),
            rows.kernel(),
            columns.kernel(),
            rows.stride(),
            columns.stride(),
            rows.dilation(),
            columns.dilation(),
            lanes
        };
    }
}
