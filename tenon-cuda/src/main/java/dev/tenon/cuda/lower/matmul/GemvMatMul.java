package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.lower.matmul.GpuMatMulLowering.Slots;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** Products of few rows by {@code gemv}, their epilogue included. Thread-safe. */
final class GemvMatMul {
    private static final int THREADS = 256;

    private GemvMatMul() {}

    /**
     * A step for a product that the kernel takes.
     *
     * @see GemvPlan#refusal
     */
    static GpuStep step(
            MatMulChoice choice,
            Epilogue epilogue,
            DType dtype,
            MatMulShape shape,
            Slots slots,
            GpuLoweringContext context) {
        GemvPlan plan = GemvPlan.of(dtype, shape, context.kernels().context().device());
        Kernel kernel =
                context.kernels().kernel(ProductCatalog.GEMV, plan.entry(), ProductCatalog.rows(dtype, plan.rows()));
        PreparedLaunch.Builder work = PreparedLaunch.of(
                        kernel, LaunchShape.of(plan.blocks(), THREADS).withProgrammatic())
                .value(slots.a())
                .value(slots.b())
                .value(slots.bias())
                .value(slots.residual())
                .value(slots.y())
                .addAll(shape.m(), shape.n(), shape.k());
        TensorCoreMatMul.addFunction(work, dtype, epilogue.activation());
        work.add(MmaPlan.alongB(dtype, shape)).add(plan.shares()).workspace(0).counters();
        return new OwnMatMul(
                choice.text(dtype, epilogue, plan.entry()),
                choice.passedOver(),
                List.of(work.build()),
                plan.workspaceBytes(dtype),
                plan.counterBytes());
    }
}
