package dev.tenon.cuda.port;

import dev.tenon.core.error.UnsupportedException;
import java.lang.foreign.MemorySegment;

/**
 * A queue of device work, done in order. Used by one thread at a time. All methods enqueue and return, except where
 * they say that they wait. A fault of earlier work may come out of any later call; a range that is not within a buffer
 * is an {@link dev.tenon.core.error.InputException}.
 */
public interface GpuStream extends AutoCloseable {
    /**
     * Enqueues a kernel. The arguments are read before the call returns, so the slab may be filled anew at once.
     *
     * @throws dev.tenon.core.error.NativeException naming the function, the shape and the limit that it breaks
     */
    void launch(GpuFunction function, LaunchShape shape, KernelArguments arguments);

    /**
     * Copies host memory to the device. From pinned memory asynchronous: it must then stay untouched until the copy is
     * done. Other memory has been read when the call returns.
     */
    void copyToDevice(MemorySegment from, DeviceBuffer to, long toOffset);

    /**
     * Copies device memory to the host. To pinned memory asynchronous; other memory has been written when the call
     * returns.
     */
    void copyToHost(DeviceBuffer from, long fromOffset, MemorySegment to);

    void copy(DeviceBuffer from, long fromOffset, DeviceBuffer to, long toOffset, long bytes);

    /** Sets bytes. */
    void fill(DeviceBuffer buffer, long offset, long bytes, byte value);

    /**
     * Runs calls of a library that enqueues on {@link #handle}, with the device's context current; they must not block.
     * A failure while the stream captures ends the recording.
     *
     * @throws dev.tenon.core.error.UnsupportedException where the platform has no libraries
     */
    void call(Runnable calls);

    /**
     * Has a library that was told of this stream leave it before the stream is destroyed, and before work on it is
     * recorded; not where the device is lost. Libraries go on touching a stream that they were told of last, from
     * whichever thread.
     *
     * @param library a second action of the same one is passed over
     * @throws dev.tenon.core.error.UnsupportedException where the platform has no libraries
     */
    default void beforeLeaving(Object library, Runnable action) {
        throw new UnsupportedException("no library works on this stream");
    }

    /** Marks this point of the stream. */
    void record(GpuEvent event);

    /** Work enqueued from now on waits for the event's last record, on whichever stream. */
    void await(GpuEvent event);

    /** Whether all work is done; does not wait. */
    boolean idle();

    /** Waits until all work is done. */
    void synchronize();

    /**
     * From now on calls are recorded rather than done.
     *
     * @throws dev.tenon.core.error.CaptureException when the stream cannot capture
     */
    void beginCapture();

    boolean capturing();

    /** Whether what this thread enqueues is recorded: by this stream's capture, or one that it is part of. */
    default boolean recorded() {
        return capturing();
    }

    /**
     * Ends recording. The stream is usable afterwards in any case.
     *
     * @throws dev.tenon.core.error.CaptureException naming the call that broke the recording
     */
    CapturedGraph endCapture();

    /** Ends recording and throws away what was recorded; does nothing when not capturing. */
    void abortCapture();

    /** Enqueues all of a graph's work. */
    void launch(ExecutableGraph graph);

    /** Waits for the work, then frees the stream. Idempotent. */
    @Override
    void close();

    /** The native handle for libraries that take a stream; 0 where the platform has none. */
    long handle();
}
