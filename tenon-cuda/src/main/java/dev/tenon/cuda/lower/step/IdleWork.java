package dev.tenon.cuda.lower.step;

import dev.tenon.cuda.kernel.Kernels;
import java.util.function.Consumer;

/** Takes work that makes steps faster, for when their device has nothing else to do. Thread-safe. */
@FunctionalInterface
public interface IdleWork {
    /** Does it once, with kernels that are compiled at once, on a thread of its own, or never if the device closes. */
    void add(Consumer<Kernels> work);
}
