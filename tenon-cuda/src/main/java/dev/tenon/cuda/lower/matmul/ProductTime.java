package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.port.DeviceProperties;

/** What the model of time, measured on an H200, says of a product with its bias. */
public final class ProductTime {
    private ProductTime() {}

    /** Microseconds of {@code matmul_wgmma} for a product of halves, on a device that has it. */
    public static double microseconds(DType dtype, MatMulShape shape, DeviceProperties device) {
        return RingPlan.of(dtype, shape, Epilogue.NONE, device).microseconds();
    }
}
