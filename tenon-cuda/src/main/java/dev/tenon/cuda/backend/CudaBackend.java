package dev.tenon.cuda.backend;

/** NVIDIA GPUs through libcuda. */
public final class CudaBackend extends GpuBackend {
    /** Loads nothing. */
    public CudaBackend() {
        super("cuda", 10);
    }
}
