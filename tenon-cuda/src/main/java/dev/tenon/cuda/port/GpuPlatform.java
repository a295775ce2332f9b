package dev.tenon.cuda.port;

/**
 * A driver and the compiler that goes with it. Found through {@link java.util.ServiceLoader}: implementations have a
 * public constructor without arguments that loads nothing. Thread-safe.
 */
public interface GpuPlatform {
    /** {@code cuda} or {@code emulator}, as in {@code --device}. */
    String name();

    GpuDriver driver();

    /** Whether CUDA's own libraries work on its contexts and streams. */
    default boolean takesLibraries() {
        return false;
    }

    /** With the kernel cache before it. */
    KernelCompiler compiler();
}
