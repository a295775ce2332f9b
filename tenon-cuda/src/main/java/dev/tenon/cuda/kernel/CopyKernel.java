package dev.tenon.cuda.kernel;

import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** Copies bytes on the device. Immutable. */
public final class CopyKernel {
    /** Copies of a launch of {@link Few}. */
    static final int FEW = 4;

    private static final int ACCESS = 16;
    private static final int THREADS = 256;
    private static final long BYTES_A_BLOCK = THREADS * 4 * 16;

    private final Kernel kernel;

    public CopyKernel(Kernels kernels) {
        kernel = kernels.kernel(KernelCatalog.COPY, "copy", KernelCatalog.BYTES);
    }

    /** Both addresses on 16-byte boundaries, at least one byte, not overlapping. */
    public void enqueue(GpuStream stream, KernelArguments arguments, long from, long to, long bytes) {
        int blocks = (int) Math.min(Math.ceilDiv(bytes, BYTES_A_BLOCK), Integer.MAX_VALUE);
        stream.launch(
                kernel.function(),
                LaunchShape.of(blocks, THREADS),
                arguments.clear().add(from).add(to).add(bytes));
    }

    /**
     * Copies of at most some KiB each, up to four in one launch, and those between device and pinned memory.
     * Immutable.
     */
    public static final class Few {
        /** Bytes that a block copies sooner than the driver copies anything. */
        private static final long MOST_BYTES = 64 << 10;

        /**
         * Bytes that blocks copy from and to pinned memory sooner than the driver does: in a recorded run on an H200
         * both ways take 4.5 microseconds for 24 KiB of results, by the copy engine 11.
         */
        private static final long MOST_PINNED_BYTES = 1 << 20;

        private final Kernel kernel;
        private final CopyKernel whole;

        public Few(Kernels kernels) {
            kernel = kernels.kernel(KernelCatalog.COPY, "copy_few", KernelCatalog.BYTES);
            whole = new CopyKernel(kernels);
        }

        /** Whether a copy between device and pinned memory is to be made by a kernel. */
        public static boolean takesPinned(long bytes) {
            return bytes > 0 && bytes <= MOST_PINNED_BYTES;
        }

        /** A copy that it takes. */
        public void enqueuePinned(GpuStream stream, KernelArguments arguments, Copy copy) {
            whole.enqueue(stream, arguments, copy.from, copy.to, copy.bytes);
        }

        /** Whether it takes all of these. */
        public static boolean takes(List<Copy> copies) {
            return copies.size() <= FEW && copies.stream().allMatch(Copy::small);
        }

        /** At least one copy; none overlaps another. */
        public void enqueue(GpuStream stream, KernelArguments arguments, List<Copy> copies) {
            arguments.clear();
            for (int i = 0; i < FEW; i++) {
                Copy copy = i < copies.size() ? copies.get(i) : Copy.NONE;
                arguments.add(copy.from).add(copy.to).add(copy.bytes);
            }
            stream.launch(kernel.function(), LaunchShape.of(copies.size(), THREADS), arguments);
        }
    }

    /** From an address to another one. */
    public record Copy(long from, long to, long bytes) {
        private static final Copy NONE = new Copy(0, 0, 0);

        private boolean small() {
            return bytes <= Few.MOST_BYTES && from % ACCESS == 0 && to % ACCESS == 0;
        }
    }
}
