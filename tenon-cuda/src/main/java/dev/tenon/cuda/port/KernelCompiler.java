package dev.tenon.cuda.port;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import java.util.List;

/** Turns kernel source into an image that the same platform loads. Thread-safe. */
public interface KernelCompiler {
    /** What it is, {@code NVRTC 13.0}, {@code nvcc 13.0}, {@code g++ 12.2}; empty where there is none. */
    String name();

    /** One line that says why there is none, and what would help; empty where there is one. Never throws. */
    String unavailable();

    /**
     * All that decides about an image beside source, options and architecture: name, version, the versions of headers
     * of its own. Goes into cache keys.
     */
    String fingerprint();

    /**
     * The architectures that it knows, ascending.
     *
     * @throws UnsupportedException where {@link #unavailable()} says why
     */
    List<Architecture> architectures();

    /** Whether it has code for a device in its own form ({@link Architecture#specific}). */
    default boolean makesSpecific(Architecture device) {
        return unavailable().isEmpty();
    }

    /** Whether finding it takes processes of the host; who can do without it does not look for it. */
    default boolean isSlowToFind() {
        return false;
    }

    /** Whether an image is at hand, so that nothing would have to be compiled. */
    default boolean holds(KernelSource source, Architecture architecture) {
        return false;
    }

    /**
     * Compiles.
     *
     * @throws UnsupportedException when the architecture is too old for this compiler
     * @throws NativeException when the source does not compile, with the log and numbered source lines
     */
    ModuleImage compile(KernelSource source, Architecture architecture);

    /**
     * Compiles and loads. Where there are several ways to make an image, one that the driver rejects is followed by
     * another.
     *
     * @throws UnsupportedException as {@link #compile}
     * @throws NativeException as {@link #compile}, and when the driver rejects every image
     */
    default GpuModule load(GpuContext context, KernelSource source, Architecture architecture) {
        try {
            return context.load(compile(source, architecture));
        } catch (ImageRejected e) {
            throw new NativeException(
                    source.name() + ": the image by " + name() + " is rejected: " + e.getMessage(), e);
        }
    }
}
