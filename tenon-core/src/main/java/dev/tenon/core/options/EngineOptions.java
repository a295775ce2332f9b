package dev.tenon.core.options;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.report.EngineListener;

/**
 * How a device is opened.
 *
 * @param threads worker threads of the CPU backend, the calling thread among them; 0 for one a core
 * @param memoryLimit cap on the bytes that weights, arenas and workspace may take together
 * @param libraryWorkspace cap on the bytes that one convolution or attention by cuDNN may work in; what the
 *     library would do faster in more is done in less, or by a kernel of ours
 * @param listener is told what the engine does
 */
public record EngineOptions(int threads, long memoryLimit, long libraryWorkspace, EngineListener listener) {
    /** More worker threads than that are refused. */
    public static final int MOST_THREADS = 4096;

    public EngineOptions {
        if (threads < 0 || threads > MOST_THREADS) {
            throw new InputException("threads must be 0 (one a core) to " + MOST_THREADS + ", got " + threads);
        }
        if (memoryLimit <= 0) {
            throw new InputException("the memory limit must be positive, got " + memoryLimit);
        }
        if (libraryWorkspace < 0) {
            throw new InputException("the workspace of a library must be 0 or more bytes, got " + libraryWorkspace);
        }
        Require.nonNull(listener, "listener");
    }

    /** Returns a thread a core, no limit, and 32 MiB for a call of cuDNN. */
    public static EngineOptions defaults() {
        return new EngineOptions(0, Long.MAX_VALUE, 32L << 20, EngineListener.NONE);
    }

    public EngineOptions withThreads(int count) {
        return new EngineOptions(count, memoryLimit, libraryWorkspace, listener);
    }

    public EngineOptions withMemoryLimit(long bytes) {
        return new EngineOptions(threads, bytes, libraryWorkspace, listener);
    }

    public EngineOptions withLibraryWorkspace(long bytes) {
        return new EngineOptions(threads, memoryLimit, bytes, listener);
    }

    public EngineOptions withListener(EngineListener listener) {
        return new EngineOptions(threads, memoryLimit, libraryWorkspace, listener);
    }
}
