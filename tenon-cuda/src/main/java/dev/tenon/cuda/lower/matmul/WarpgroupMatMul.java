package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.matmul.GpuMatMulLowering.Slots;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.TensorMap;
import java.util.List;

/** A product by a kernel of warpgroups, with its activation where there is one. Thread-safe. */
final class WarpgroupMatMul implements GpuStep {
    /** Rows of a box of a right operand across k. */
    static final int HALF = 64;

    private final String tier;
    private final List<String> passedOver;
    private final PreparedLaunch work;

    WarpgroupMatMul(
            MatMulChoice choice,
            Epilogue epilogue,
            DType dtype,
            MatMulShape shape,
            WarpgroupPlan plan,
            Slots slots,
            GpuLoweringContext context) {
        this.tier = choice.text(dtype, epilogue, plan.text());
        this.passedOver = choice.passedOver();
        Unary function = epilogue.activation();
        GpuContext device = context.kernels().context();
        Kernel kernel = context.kernels()
                .kernel(
                        plan.file(),
                        plan.kernel(),
                        plan.variant(dtype, function == null ? null : function.fn(), shape.transposeB()),
                        plan.sharedBytes());
        LaunchShape launch = LaunchShape.of(plan.blocks(), plan.threads())
                .withSharedBytes(plan.sharedBytes())
                .withCluster(plan.cluster())
                .withProgrammatic();
        PreparedLaunch.Builder work = PreparedLaunch.of(kernel, launch)
                .map(slots.a(), device, at -> map(dtype, at, shape.k(), shape.m(), plan.leftRows()))
                .map(
                        slots.b(),
                        device,
                        at -> shape.transposeB()
                                ? map(dtype, at, shape.k(), shape.n(), plan.rightRows())
                                : map(dtype, at, shape.n(), shape.k(), HALF))
                .value(slots.bias())
                .value(slots.y())
                .addAll(shape.m(), shape.n())
                .add(plan.detail())
                .compute(DType.F32, function == null ? 0 : function.alpha())
                .compute(DType.F32, function == null ? 0 : function.beta());
        this.work = (plan.takesResidual() ? work.value(slots.residual()) : work).build();
    }

    @Override
    public void enqueue(GpuFrame frame) {
        work.enqueue(frame);
    }

    /** A dense matrix in boxes of {@code height} rows of 128 bytes; f32 is rounded to TF32. */
    static TensorMap map(DType dtype, long address, long columns, long rows, int height) {
        return map(element(dtype), dtype, address, columns, rows, height);
    }

    static TensorMap map(TensorMap.Element element, DType dtype, long address, long columns, long rows, int height) {
        return new TensorMap(
                element,
                address,
                List.of(columns, rows),
                List.of(dtype.bytesFor(columns)),
                List.of(RingTile.step(dtype), height),
                TensorMap.Swizzle.BYTES_128);
    }

    static TensorMap.Element element(DType dtype) {
        return switch (dtype) {
            case F16 -> TensorMap.Element.F16;
            case BF16 -> TensorMap.Element.BF16;
            default -> TensorMap.Element.TF32;
        };
    }

    @Override
    public String tier() {
        return tier;
    }

    @Override
    public List<String> passedOver() {
        return passedOver;
    }
}
