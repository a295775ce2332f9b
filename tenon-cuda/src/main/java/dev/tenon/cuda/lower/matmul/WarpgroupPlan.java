package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import org.jspecify.annotations.Nullable;

/** How a kernel of warpgroups makes a product: its launch, and how long that takes by a model. */
sealed interface WarpgroupPlan permits RowsPlan, RingPlan, PartsPlan {
    /** Rows of most boxes that the copy engine fetches. */
    int BOX = 128;

    KernelFile file();

    /** The kernel's name. */
    String kernel();

    /** @param fn of the epilogue; null for none */
    KernelVariant variant(DType dtype, @Nullable UnaryFn fn, boolean alongB);

    int blocks();

    int threads();

    /** Blocks of a cluster; 1 for none. */
    default int cluster() {
        return 1;
    }

    /** Rows of a box of the left operand. */
    default int leftRows() {
        return BOX;
    }

    /** Rows of a box of a right operand that lies along k. */
    default int rightRows() {
        return BOX;
    }

    /** Whether its kernel adds a residual, behind the function. */
    default boolean takesResidual() {
        return false;
    }

    /** Dynamic shared memory of a block. */
    int sharedBytes();

    /** What the kernel is told of the plan. */
    int detail();

    double microseconds();

    /** {@code matmul_rows, sums of 384}. */
    String text();
}
