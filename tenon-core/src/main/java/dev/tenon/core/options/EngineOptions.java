package dev.tenon.core.options;

import dev.tenon.core.error.InputException;

/**
 * How a device is opened.
 *
 * @param threads worker threads of the CPU backend, the calling thread among them; 0 for one a core
 * @param memoryLimit cap on the bytes that weights, arenas and workspace may take together
 */
public record EngineOptions(int threads, long memoryLimit) {
    /** More worker threads than that are refused. */
    public static final int MOST_THREADS = 4096;

    public EngineOptions {
        if (threads < 0 || threads > MOST_THREADS) {
            throw new InputException("threads must be 0 (one a core) to " + MOST_THREADS + ", got " + threads);
        }
        if (memoryLimit <= 0) {
            throw new InputException("the memory limit must be positive, got " + memoryLimit);
        }
    }

    public static EngineOptions defaults() {
        return new EngineOptions(0, Long.MAX_VALUE);
    }

    public EngineOptions withThreads(int count) {
        return new EngineOptions(count, memoryLimit);
    }

    public EngineOptions withMemoryLimit(long bytes) {
        return new EngineOptions(threads, bytes);
    }
}
