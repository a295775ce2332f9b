package dev.tenon.cuda.kernel;

import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;

/** Copies bytes on the device. Immutable. */
public final class CopyKernel {
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
}
