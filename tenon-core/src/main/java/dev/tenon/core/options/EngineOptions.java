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
 * @param recordedBytes cap on what the recorded graphs of one session may take, by an estimate of 4 KiB a step; the
 *     least recently used one goes, and is recorded anew when it runs again. The one that runs stays whatever it takes
 * @param priority which of a GPU's streams go first
 * @param listener is told what the engine does
 */
public record EngineOptions(
        int threads,
        long memoryLimit,
        long libraryWorkspace,
        long recordedBytes,
        StreamPriority priority,
        EngineListener listener) {
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
        if (recordedBytes < 0) {
            throw new InputException("the cap on recorded graphs must be 0 or more bytes, got " + recordedBytes);
        }
        Require.nonNull(priority, "priority");
        Require.nonNull(listener, "listener");
    }

    /** Returns a thread a core, no limit, 32 MiB for a call of cuDNN, and 256 MiB for recorded graphs. */
    public static EngineOptions defaults() {
        return new EngineOptions(0, Long.MAX_VALUE, 32L << 20, 256L << 20, StreamPriority.NORMAL, EngineListener.NONE);
    }

    public EngineOptions withThreads(int count) {
        return new EngineOptions(count, memoryLimit, libraryWorkspace, recordedBytes, priority, listener);
    }

    public EngineOptions withMemoryLimit(long bytes) {
        return new EngineOptions(threads, bytes, libraryWorkspace, recordedBytes, priority, listener);
    }

    public EngineOptions withLibraryWorkspace(long bytes) {
        return new EngineOptions(threads, memoryLimit, bytes, recordedBytes, priority, listener);
    }

    public EngineOptions withRecordedBytes(long bytes) {
        return new EngineOptions(threads, memoryLimit, libraryWorkspace, bytes, priority, listener);
    }

    public EngineOptions withPriority(StreamPriority wanted) {
        return new EngineOptions(
                threads, memoryLimit, libraryWorkspace, recordedBytes, Require.nonNull(wanted, "wanted"), listener);
    }

    public EngineOptions withListener(EngineListener listener) {
        return new EngineOptions(threads, memoryLimit, libraryWorkspace, recordedBytes, priority, listener);
    }
}
