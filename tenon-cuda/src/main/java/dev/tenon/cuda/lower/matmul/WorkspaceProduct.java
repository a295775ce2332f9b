package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/**
 * A product a b^T in f32 that a step makes for itself on tensor cores, a [m,k], b [n,k], the result [m,n] at the start
 * of its workspace. Pure arithmetic.
 */
public record WorkspaceProduct(long m, long n, long k) {
    private MatMulShape shape() {
        return new MatMulShape(m, n, k, false, true, List.of(), List.of(), List.of());
    }

    /** Why tensor cores do not take it; empty where they do. */
    public String refusal(DType dtype, GpuLoweringContext context) {
        if (dtype != DType.F32) {
            return "matmul_wmma: x of " + dtype + "; its results in the workspace are f32";
        }
        String reason = MmaPlan.refusal(
                dtype, shape(), context.precision(), context.kernels().context().device());
        return reason.isEmpty() ? "" : "matmul_wmma: " + reason;
    }

    /**
     * The launch; {@link #refusal} is empty.
     *
     * @param a slot
     * @param b slot
     */
    public PreparedLaunch launch(int a, int b, GpuLoweringContext context) {
        DeviceProperties device = context.kernels().context().device();
        MatMulShape shape = shape();
        MmaPlan plan =
                MmaPlan.unsplit(DType.F32, shape, device, context.kernels().compilesSpecific(), context.tile());
        ProductCatalog.Tile tile = plan.tile();
        int shared = tile.sharedBytes(device.architecture().number());
        Kernel kernel = context.kernels()
                .kernel(
                        ProductCatalog.MATMUL_WMMA,
                        "matmul_wmma",
                        tile.variant(DType.F32, true, true, plan.packed()),
                        shared);
        LaunchShape launch = LaunchShape.of((int) Math.min(plan.tiles(), Integer.MAX_VALUE), tile.threads())
                .withSharedBytes(shared)
                .withProgrammatic();
        PreparedLaunch.Builder work = PreparedLaunch.of(kernel, launch)
                .value(a)
                .value(b)
                .none()
                .none()
                .workspace(0)
                .addAll(m, n, k, 1);
        TensorCoreMatMul.addBatch(work, shape);
        TensorCoreMatMul.addFunction(work, DType.F32, null);
        return work.add(TensorCoreMatMul.packed(DType.F32, shape))
                .add(1)
                .none()
                .none()
                .build();
    }
}
