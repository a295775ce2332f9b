package dev.tenon.cuda.port;

import java.util.List;

/** Turns kernel source into an image that the same platform loads. Thread-safe. */
public interface KernelCompiler {
    /** What it is, {@code NVRTC 13.0}, {@code nvcc 13.0}, {@code g++ 12.2}; empty where there is none. */
    String name();

    /** One line that says why there is none, and what would help; empty where there is one. Never throws. */
    String unavailable();

    /** All that decides about an image beside source, options and architecture: name, version, the versions of headers of its own. Goes into cache keys. */
    String fingerprint();

    /**
     * The architectures that it knows, ascending.
     *
     * @throws dev.tenon.core.error.UnsupportedException where {@link #unavailable()} says why
     */
    List<Architecture> architectures();

    /**
     * Compiles.
     *
     * @throws dev.tenon.core.error.UnsupportedException when the architecture is too old for this compiler
     * @throws dev.tenon.core.error.NativeException when the source does not compile, with the log and numbered source lines
     */
    ModuleImage compile(KernelSource source, Architecture architecture);
}
