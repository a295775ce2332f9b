package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cuda.kernel.GemvCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.matmul.GpuMatMulLowering.Slots;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** Products of few rows by {@code gemv}, their prologue and epilogue included. Thread-safe. */
final class GemvMatMul {
    private static final int THREADS = 256;

    private GemvMatMul() {}

    /**
     * A product that the kernel takes.
     *
     * @param slots where its values are; of {@code a} what the prologue reads
     * @param constant whether no step writes the weight
     */
    record Product(
            MatMulChoice choice, Epilogue epilogue, DType dtype, MatMulShape shape, Slots slots, boolean constant) {}

    /**
     * A step for a product that the kernel takes.
     *
     * @see GemvPlan#refusal
     */
    static GpuStep step(Product product, GemvPrologue prologue, GpuLoweringContext context) {
        DType dtype = product.dtype;
        MatMulShape shape = product.shape;
        Slots slots = product.slots;
        GemvPlan plan = GemvPlan.of(dtype, shape, context.kernels().context().device());
        int shared = plan.sharedBytes(dtype, prologue.isNone() ? 0 : shape.m(), shape.k());
        Kernel kernel = context.kernels()
                .kernel(
                        GemvCatalog.GEMV,
                        plan.entry(),
                        GemvCatalog.rows(dtype, plan.rows(), prologue.kind(), prologue.fn()),
                        shared);
        PreparedLaunch.Builder work = PreparedLaunch.of(
                        kernel,
                        LaunchShape.of(plan.blocks(), THREADS)
                                .withSharedBytes(shared)
                                .withProgrammatic())
                .value(slots.a())
                .value(prologue.scale())
                .value(prologue.shift())
                .value(slots.b())
                .value(slots.bias())
                .value(slots.residual())
                .value(slots.y())
                .addAll(shape.m(), shape.n(), shape.k())
                .compute(dtype, prologue.epsilon());
        Unary before = prologue.function();
        TensorCoreMatMul.addFunction(work, dtype, before);
        work.add(prologue.unit());
        TensorCoreMatMul.addFunction(work, dtype, product.epilogue.activation());
        work.add(MmaPlan.alongB(dtype, shape))
                .add(plan.shares())
                .add(product.constant)
                .workspace(0)
                .counters();
        String word = prologue.isNone() ? "" : prologue.word() + ", ";
        return new OwnMatMul(
                product.choice.text(dtype, product.epilogue, word + plan.entry()),
                product.choice.passedOver(),
                List.of(work.build()),
                plan.workspaceBytes(dtype),
                plan.counterBytes());
    }
}
