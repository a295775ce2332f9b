package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.port.DeviceProperties;

/** What models of time, measured on an H200, say of a product with its bias. */
public final class ProductTime {
    private ProductTime() {}

    /** Microseconds of the sooner of the library and of {@code matmul_wgmma}, of halves, on a device that has that. */
    public static double microseconds(DType dtype, MatMulShape shape, DeviceProperties device) {
        return Math.min(
                WarpgroupProducts.library(dtype, shape, false),
                RingPlan.of(dtype, shape, Epilogue.NONE, device).microseconds());
    }
}
