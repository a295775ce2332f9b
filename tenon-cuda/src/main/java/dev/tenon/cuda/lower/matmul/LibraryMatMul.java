package dev.tenon.cuda.lower.matmul;

import dev.tenon.cuda.blas.LtProduct;
import dev.tenon.cuda.kernel.MatMulKernels;
import dev.tenon.cuda.lower.matmul.GpuMatMulLowering.Slots;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuStep;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A product by a library, and what is left to do by our kernel, in place: of halves the product is rounded before it
 * and the result after it, which costs an epsilon of the product's and saves half of what the kernel reads.
 *
 * @param name what makes it
 * @param prepared by cuBLASLt; null where cuBLAS makes it
 * @param calls of cuBLAS; null where cuBLASLt makes it
 * @param finish null where the product is finished
 * @param workspaceBytes the library's
 */
record LibraryMatMul(
        String name,
        List<String> passedOver,
        @Nullable LtProduct prepared,
        @Nullable GemmCalls calls,
        MatMulKernels.@Nullable Finish finish,
        Slots slots,
        long workspaceBytes)
        implements GpuStep {
    @Override
    public String tier() {
        String chosen = prepared == null ? "" : prepared.chosen();
        return chosen.isEmpty() ? name : name + ", " + chosen;
    }

    @Override
    public boolean callsCublas() {
        return calls != null;
    }

    @Override
    public void enqueue(GpuFrame frame) {
        long a = frame.at(slots.a());
        long b = frame.at(slots.b());
        long bias = Slots.at(frame, slots.bias());
        long residual = Slots.at(frame, slots.residual());
        long y = frame.at(slots.y());
        if (prepared != null) {
            frame.blas().multiply(prepared, a, b, residual, y, bias, frame.workspace());
        } else if (calls != null) {
            calls.enqueue(frame.blas(), a, b, y, frame.workspace());
        }
        if (finish != null) {
            finish.enqueue(frame.stream(), frame.arguments(), y, bias, residual, y);
        }
    }
}
