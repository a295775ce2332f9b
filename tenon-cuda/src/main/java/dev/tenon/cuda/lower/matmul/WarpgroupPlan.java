package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.cuda.kernel.KernelFile;
import dev.tenon.cuda.kernel.KernelVariant;
import org.jspecify.annotations.Nullable;

/** How a kernel of warpgroups makes a product: its launch, and how long that takes by a model. */
sealed interface WarpgroupPlan permits RowsPlan, RingPlan {
    KernelFile file();

    /** The kernel's name. */
    String kernel();

    /** @param fn of the epilogue; null for none */
    KernelVariant variant(DType dtype, @Nullable UnaryFn fn, boolean alongB);

    int blocks();

    int threads();

    /** Dynamic shared memory of a block. */
    int sharedBytes();

    /** What the kernel is told of the plan. */
    int detail();

    double microseconds();

    /** {@code matmul_rows, sums of 384}. */
    String text();
}
