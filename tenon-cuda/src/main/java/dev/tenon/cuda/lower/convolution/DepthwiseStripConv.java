package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.convolution.FiniteWeights;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;

/**
 * Convolutions of each channel by itself with channels innermost, of usual windows and finite constant weights: one
 * launch, 7 positions of a row and 2 channels per thread, whose cells come from shared memory.
 */
final class DepthwiseStripConv {
    private static final int LINE_THREADS = 32;
    private static final int CHANNELS = 32; // of a part
    private static final int POSITIONS = 14; // of two strips
    private static final long MOST_LINES = 8;
    /** Of a part, so that few lanes are idle; windows of 7 cells a side are worth those, too. */
    private static final double LEAST_FILLED = 0.7;

    private static final long WIDE = 7;

    private DepthwiseStripConv() {}

    /** Why the kernel does not take a convolution that {@link DepthwiseLastConv} takes; empty where it does. */
    static String refusal(ConvGeometry geometry, DType dtype, Value weights, DeviceProperties device) {
        ConvGeometry.Axis rows = geometry.axes().getFirst();
        ConvGeometry.Axis columns = geometry.axes().getLast();
        if (!DepthwiseLastConv.isUsual(rows, columns)) {
            return "windows other than 3 and 5 cells a side by strides of 1 and 2, and 7";
        }
        double filled = (double) geometry.groups() / (Math.ceilDiv(geometry.groups(), CHANNELS) * CHANNELS);
        if (filled < LEAST_FILLED && rows.kernel() < WIDE) {
            return geometry.groups() + " channels fill parts of " + CHANNELS + " by less than 7 tenths";
        }
        if (!FiniteWeights.isFinite(weights)) {
            return "weights that are not finite constants meet padding";
        }
        return lines(geometry, dtype, device) == 0 ? "a block has too little shared memory" : "";
    }

    static LaunchStep step(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        DeviceProperties device = context.kernels().context().device();
        ConvGeometry.Axis rows = geometry.axes().getFirst();
        long lines = lines(geometry, operands.dtype(), device);
        long parts = Math.ceilDiv(geometry.groups(), CHANNELS);
        int shared = SizeMath.toInt("conv", sharedBytes(geometry, operands.dtype(), lines));
        LaunchShape shape = LaunchShape.of(
                        (int) Math.min(pieces(geometry, lines), Integer.MAX_VALUE),
                        (int) Math.min(parts, GridLimits.YZ),
                        1,
                        SizeMath.toInt("conv", lines * LINE_THREADS))
                .withSharedBytes(shared)
                .withProgrammatic();
        String entry = "conv_depthwise_strip_k" + rows.kernel() + "s" + rows.stride();
        PreparedLaunch.Builder launch = operands.launch(
                        context.kernels()
                                .kernel(
                                        WindowCatalog.CONV_DEPTHWISE_STRIP,
                                        entry,
                                        KernelVariant.of(operands.dtype()),
                                        shared),
                        shape)
                .struct(words(geometry, lines));
        return LaunchStep.of(
                "4 direct: " + entry + ", " + lines + " rows a block, " + operands.dtype() + ", channels last"
                        + operands.words(),
                operands.activation(launch).build());
    }

    /** Rows of a block, shared out evenly, as far as shared memory goes; 0 where it has no room for one. */
    private static long lines(ConvGeometry geometry, DType dtype, DeviceProperties device) {
        long output = geometry.axes().getFirst().output();
        for (long most = MOST_LINES; most > 0; most--) {
            long lines = Math.ceilDiv(output, Math.ceilDiv(output, most));
            if (sharedBytes(geometry, dtype, lines) <= device.sharedBytesPerBlockOptIn()) {
                return lines;
            }
        }
        return 0;
    }

    private static long pieces(ConvGeometry geometry, long lines) {
        return SizeMath.product(
                "conv",
                geometry.batch(),
                Math.ceilDiv(geometry.axes().getFirst().output(), lines),
                Math.ceilDiv(geometry.axes().getLast().output(), POSITIONS));
    }

    private static long sharedBytes(ConvGeometry geometry, DType dtype, long lines) {
        ConvGeometry.Axis axis = geometry.axes().getFirst();
        long high = (lines - 1) * axis.stride() + axis.kernel();
        long wide = (POSITIONS - 1) * axis.stride() + axis.kernel();
        return dtype.bytesFor((axis.kernel() * axis.kernel() + high * wide) * CHANNELS);
    }

    /** The struct DepthwiseStripSizes of conv_depthwise_strip.cu. */
    private static long[] words(ConvGeometry geometry, long lines) {
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
            lines
        };
    }
}
