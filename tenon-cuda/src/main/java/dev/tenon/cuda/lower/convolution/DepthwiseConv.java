package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;

/** Convolutions of each channel by itself with the usual windows: one launch, 4 results of a row per thread. */
final class DepthwiseConv {
    private static final long TOGETHER = 4;
    /** Places of a plane are counted in 32 bits. */
    private static final long LARGE = 1L << 30;

    private DepthwiseConv() {}

    /** Why the kernel does not take a convolution; empty where it does. */
    static String refusal(ConvGeometry geometry) {
        if (geometry.transposed()
                || geometry.axes().size() != 2
                || geometry.channels() != 1
                || geometry.outputs() != 1) {
            return "it is not of single channels in two dims";
        }
        ConvGeometry.Axis rows = geometry.axes().getFirst();
        ConvGeometry.Axis columns = geometry.axes().getLast();
        boolean usual = (rows.kernel() == 3 || rows.kernel() == 5)
                && rows.kernel() == columns.kernel()
                && rows.stride() <= 2
                && rows.stride() == columns.stride()
                && rows.dilation() == 1
                && columns.dilation() == 1;
        if (!usual) {
            return "windows are not of 3 or 5 cells a side, strides of 1 or 2 and dilations of 1";
        }
        long most = Math.max(geometry.area(), geometry.positions());
        return most >= LARGE || rows.before() + columns.before() >= LARGE ? "places are counted in 32 bits" : "";
    }

    static LaunchStep step(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        ConvGeometry.Axis rows = geometry.axes().getFirst();
        ConvGeometry.Axis columns = geometry.axes().getLast();
        long planes = SizeMath.product("conv", geometry.batch(), geometry.groups());
        long pieces = SizeMath.product("conv", planes, rows.output(), Math.ceilDiv(columns.output(), TOGETHER));
        String entry = "conv_depthwise_k" + rows.kernel() + "s" + rows.stride();
        PreparedLaunch.Builder launch = operands.launch(
                        context.kernels()
                                .kernel(WindowCatalog.CONV_DEPTHWISE, entry, KernelVariant.of(operands.dtype())),
                        Grids.of(pieces))
                .struct(
                        planes,
                        geometry.groups(),
                        rows.input(),
                        columns.input(),
                        rows.output(),
                        columns.output(),
                        rows.before(),
                        columns.before());
        return LaunchStep.of(
                "4 direct: " + entry + ", " + operands.dtype() + operands.words(),
                operands.activation(launch).build());
    }
}
