package dev.tenon.core.options;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.report.EngineListener;

/**
 * How a device is opened.
 *
 * @param threads worker threads of the CPU backend, the calling thread among them; 0 for one a core
 * @param memoryLimit cap on the bytes that weights, arenas and workspace may take together
 * @param listener is told what the engine does
 */
public record EngineOptions(int threads, long memoryLimit, EngineListener listener) {
    /** More worker threads than that are refused. */
    public static final int MOST_THREADS = 4096;

    public EngineOptions {
        if (threads < 0 || threads > MOST_THREADS) {
            throw new InputException("threads must be 0 (one a core) to " + MOST_THREADS + ", got " + threads);
        }
        if (memoryLimit <= 0) {
            throw new InputException("the memory limit must be positive, got " + memoryLimit);
        }
        Require.nonNull(listener, "listener");
    }

    public static EngineOptions defaults() {
        return new EngineOptions(0, Long.MAX_VALUE, EngineListener.NONE);
    }

    public EngineOptions withThreads(int count) {
        return new EngineOptions(count, memoryLimit, listener);
    }

    public EngineOptions withMemoryLimit(long bytes) {
        return new EngineOptions(threads, bytes, listener);
    }

    public EngineOptions withListener(EngineListener listener) {
        return new EngineOptions(threads, memoryLimit, listener);
    }
}
