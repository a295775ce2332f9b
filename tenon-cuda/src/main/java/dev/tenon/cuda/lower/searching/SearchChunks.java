package dev.tenon.cuda.lower.searching;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.IndexingCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.port.LaunchShape;
import java.util.function.ToLongFunction;

/**
 * How a row of elements is cut for {@code compact.cuh}: a block a chunk.
 *
 * @param count of chunks, at least 1
 * @param size of a chunk, a multiple of 256 elements
 */
record SearchChunks(long elements, long count, long size) {
    private static final int THREADS = 256;
    private static final long LEAST = 1024;
    private static final int BLOCKS_A_MULTIPROCESSOR = 4;

    static SearchChunks of(long elements, GpuLoweringContext context) {
        long blocks = (long) BLOCKS_A_MULTIPROCESSOR
                * context.kernels().context().device().multiprocessors();
        long wanted = Math.clamp(Math.ceilDiv(elements, LEAST), 1, blocks);
        long size = SizeMath.roundUp("search", Math.max(1, Math.ceilDiv(elements, wanted)), THREADS);
        return new SearchChunks(elements, Math.max(1, Math.ceilDiv(elements, size)), size);
    }

    LaunchShape shape() {
        return LaunchShape.of((int) count, THREADS);
    }

    /** Bytes of the counts of all chunks. */
    long countBytes() {
        return count * Long.BYTES;
    }

    /** Counts in each chunk the elements that are not zero. */
    LaunchStep.Work counting(
            GpuLoweringContext context, DType dtype, ToLongFunction<GpuFrame> from, ToLongFunction<GpuFrame> counts) {
        Kernel kernel =
                context.kernels().kernel(IndexingCatalog.NON_ZERO, "non_zero_count", KernelFiles.width(dtype.bytes()));
        return LaunchStep.launch(
                kernel,
                shape(),
                (arguments, frame) -> arguments
                        .add(from.applyAsLong(frame))
                        .add(counts.applyAsLong(frame))
                        .add(ignored(dtype))
                        .add(elements)
                        .add(size));
    }

    /** The bits of a type that do not count: the sign of a floating-point zero. */
    static long ignored(DType dtype) {
        return dtype.isFloat() ? 1L << (dtype.bits() - 1) : 0;
    }
}
