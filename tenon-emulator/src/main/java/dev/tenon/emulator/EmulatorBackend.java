package dev.tenon.emulator;

import dev.tenon.cuda.backend.GpuBackend;

/** The CUDA backend on CPU threads: for tests, never the best device. */
public final class EmulatorBackend extends GpuBackend {
    /** Loads nothing. */
    public EmulatorBackend() {
        super("emulator", -10);
    }
}
