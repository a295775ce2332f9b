package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.FiniteWeights;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.PreparedLaunch;

/**
 * Makes results again of output channels whose weights are not all finite: zeros that stand where windows meet padding
 * have made NaN of them, or by some kernels of a library zeros.
 */
final class ConvMend {
    private ConvMend() {}

    /** Whether it is needed: weights may not be finite, and windows meet padding. */
    static boolean needed(ConvGeometry geometry, Value weights) {
        return geometry.meetsPadding() && !FiniteWeights.isFinite(weights);
    }

    /** @param epilogue what the results have gone through */
    static PreparedLaunch of(
            ConvGeometry geometry, ConvOperands operands, Epilogue epilogue, GpuLoweringContext context) {
        KernelFile file = geometry.transposed() ? WindowCatalog.CONV_TRANSPOSE : WindowCatalog.CONV;
        long threads = SizeMath.product("conv", geometry.groups(), geometry.outputs(), Grids.THREADS);
        PreparedLaunch.Builder launch = PreparedLaunch.of(
                        context.kernels()
                                .kernel(
                                        file,
                                        geometry.transposed() ? "conv_transpose_mend" : "conv_mend",
                                        KernelVariant.of(operands.dtype())),
                        Grids.of(threads))
                .value(operands.x())
                .value(operands.w())
                .value(epilogue.bias() ? operands.bias() : -1)
                .value(epilogue.residual() ? operands.residual() : -1)
                .value(operands.y())
                .struct(geometry.words());
        return operands.with(epilogue).activation(launch).build();
    }
}
