package dev.tenon.cuda.lower.step;

import dev.tenon.cuda.kernel.Kernels;
import java.util.function.Predicate;

/** Takes work that makes steps faster, for when their device has nothing else to do. Thread-safe. */
@FunctionalInterface
public interface IdleWork {
    /**
     * Does it once, with kernels that are compiled at once, on a thread of its own, or never if the device closes. That
     * may be long after: what the work is for should not be kept for it.
     *
     * @param work says whether anything runs in another way after it
     */
    void add(Predicate<Kernels> work);
}
