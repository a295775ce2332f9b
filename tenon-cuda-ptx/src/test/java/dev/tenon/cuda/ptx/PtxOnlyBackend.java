package dev.tenon.cuda.ptx;

import dev.tenon.cuda.backend.GpuBackend;

/** The CUDA backend over {@link PtxOnlyPlatform}. */
public final class PtxOnlyBackend extends GpuBackend {
    public PtxOnlyBackend() {
        super(PtxOnlyPlatform.NAME, -20);
    }
}
