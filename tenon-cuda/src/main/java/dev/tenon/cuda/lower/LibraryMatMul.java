package dev.tenon.cuda.lower;

import dev.tenon.cuda.blas.LtProduct;
import dev.tenon.cuda.kernel.MatMulKernels;
import dev.tenon.cuda.lower.MatMulLowering.Slots;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A product by a library, and what is left to do by our kernel.
 *
 * @param prepared by cuBLASLt; null where cuBLAS makes it
 * @param calls of cuBLAS; null where cuBLASLt makes it
 * @param finish null where the product is finished
 * @param libraryBytes the library's own part of the workspace, which comes first
 * @param wideBytes of the product where it is wider than the result, behind it; else it is made where the result goes
 */
record LibraryMatMul(
        String tier,
        List<String> passedOver,
        @Nullable LtProduct prepared,
        @Nullable GemmCalls calls,
        MatMulKernels.@Nullable Finish finish,
        Slots slots,
        long libraryBytes,
        long wideBytes)
        implements Step {
    @Override
    public void enqueue(Frame frame) {
        long a = frame.at(slots.a());
        long b = frame.at(slots.b());
        long bias = Slots.at(frame, slots.bias());
        long residual = Slots.at(frame, slots.residual());
        long y = frame.at(slots.y());
        long product = wideBytes > 0 ? frame.workspace() + libraryBytes : y;
        if (prepared != null) {
            frame.blas().multiply(prepared, a, b, residual, product, bias, frame.workspace());
        } else if (calls != null) {
            calls.enqueue(frame.blas(), a, b, product, frame.workspace());
        }
        if (finish != null) {
            finish.enqueue(frame.stream(), frame.arguments(), product, bias, residual, y);
        }
    }

    @Override
    public long workspaceBytes() {
        return libraryBytes + wideBytes;
    }
}
