package dev.tenon.cpu.step;

/**
 * A loop that may be cut anywhere. Steps implement it themselves, so that handing one to the pool allocates nothing.
 */
@FunctionalInterface
public interface RangeTask {
    /** Does the iterations [from, to); {@code worker} (0 to threads - 1) is used by no other thread meanwhile. */
    void run(CpuFrame frame, long from, long to, int worker);
}
