package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.cuda.kernel.MatMulKernels;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.matmul.GpuMatMulLowering.Slots;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuStep;
import java.util.List;

/**
 * A product by our own kernel, its epilogue included; one launch unless the batch has more dims than the kernel counts.
 */
final class ScalarMatMul implements GpuStep {
    private final String tier;
    private final List<String> passedOver;
    private final int bytes;
    private final MatMulKernels.Product product;
    private final List<MatMulShape.Start> starts;
    private final Slots slots;

    ScalarMatMul(
            MatMulChoice choice,
            Epilogue epilogue,
            DType dtype,
            MatMulShape shape,
            MatMulKernels kernels,
            Slots slots) {
        this.product = kernels.product(dtype, shape.inner(MatMulKernels.BATCH_DIMS), epilogue.activation());
        this.starts = shape.starts(MatMulKernels.BATCH_DIMS);
        this.tier = choice.text(dtype, epilogue, product.entry());
        this.passedOver = choice.passedOver();
        this.bytes = dtype.bytes();
        this.slots = slots;
    }

    @Override
    public void enqueue(GpuFrame frame) {
        long bias = Slots.at(frame, slots.bias());
        long residual = Slots.at(frame, slots.residual());
        for (int i = 0; i < starts.size(); i++) {
            MatMulShape.Start start = starts.get(i);
            product.enqueue(
                    frame.stream(),
                    frame.arguments(),
                    frame.at(slots.a()) + start.a() * bytes,
                    frame.at(slots.b()) + start.b() * bytes,
                    bias,
                    residual == 0 ? 0 : residual + start.y() * bytes,
                    frame.at(slots.y()) + start.y() * bytes);
        }
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
