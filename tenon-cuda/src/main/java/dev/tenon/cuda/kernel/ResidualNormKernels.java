package dev.tenon.cuda.kernel;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;

/**
 * A norm of x + residual, and the sum where it is wanted, in one launch; f32, f16, bf16 and f64, all but f64 computed
 * in f32. Thread-safe.
 */
public final class ResidualNormKernels {
    private final Kernels kernels;

    public ResidualNormKernels(Kernels kernels) {
        this.kernels = kernels;
    }

    /** Elements of the longest row: what one block holds in registers. */
    public static long mostCols(DType dtype) {
        return RowPlan.mostResidualCols(dtype);
    }

    /**
     * Rows of {@code cols} consecutive elements; both sizes at least 1.
     *
     * @param centred LayerNorm rather than RmsNorm
     * @throws UnsupportedException for rows longer than {@link #mostCols}
     */
    public Rows rows(boolean centred, DType dtype, long rows, long cols) {
        RowPlan plan = RowPlan.residual(dtype, rows, cols, kernels.context().device());
        return new Rows(
                dtype,
                rows,
                cols,
                plan,
                kernels.kernel(plan.file(), plan.entry(), KernelCatalog.residual(dtype, centred)));
    }

    /** A prepared launch. Immutable; enqueue with a slab of the calling thread. */
    public record Rows(DType dtype, long rows, long cols, RowPlan plan, Kernel kernel) {
        /**
         * Enqueues it. All four of x, residual, y and sum lie equally far from 16-byte boundaries.
         *
         * @param y the norm
         * @param sum x + residual; null for not wanted
         */
        public void enqueue(
                GpuStream stream, KernelArguments arguments, long x, long residual, Affine affine, long y, long sum) {
            arguments.clear().add(x).add(residual).add(affine.gamma()).add(affine.beta());
            arguments.add(y).add(sum).add(rows).add(cols);
            RowKernels.addCompute(arguments, dtype, affine.epsilon());
            stream.launch(kernel.function(), plan.shape(), arguments);
        }
    }
}
