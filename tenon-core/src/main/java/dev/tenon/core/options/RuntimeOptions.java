package dev.tenon.core.options;

import dev.tenon.core.error.InputException;

/**
 * How a device is opened.
 *
 * @param threads worker threads of the CPU backend, the calling thread among them; 0 for one a core
 * @param memoryLimit cap on the bytes that weights, arenas and workspace may take together
 */
public record RuntimeOptions(int threads, long memoryLimit) {
    /** More worker threads than that are refused. */
    public static final int MOST_THREADS = 4096;

    public RuntimeOptions {
        if (threads < 0 || threads > MOST_THREADS) {
            throw new InputException("threads must be 0 (one a core) to " + MOST_THREADS + ", got " + threads);
        }
        if (memoryLimit <= 0) {
            throw new InputException("the memory limit must be positive, got " + memoryLimit);
        }
    }

    public static RuntimeOptions defaults() {
        return new RuntimeOptions(0, Long.MAX_VALUE);
    }

    public RuntimeOptions withThreads(int count) {
        return new RuntimeOptions(count, memoryLimit);
    }

    public RuntimeOptions withMemoryLimit(long bytes) {
        return new RuntimeOptions(threads, bytes);
    }
}
