package dev.tenon.cuda.port;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.options.StreamPriority;
import java.lang.foreign.MemorySegment;

/**
 * An open device. Thread-safe: any platform or virtual thread may call, since each native section makes the context
 * current for itself. What it hands out is closed before it or with it.
 *
 * <p>Faults are of two kinds. A recoverable one (out of memory, a refused launch) leaves everything usable. A fatal one
 * (an illegal address in a kernel) loses the context: {@link #healthy()} is then false and every later call fails at
 * once, naming the first fault.
 */
public interface GpuContext extends AutoCloseable {
    DeviceProperties device();

    boolean healthy();

    /** Bytes free and in all as the driver counts them. */
    MemoryInfo memoryInfo();

    /**
     * Device memory, 256-byte aligned; 0 bytes are allowed.
     *
     * @throws dev.tenon.core.error.OutOfMemoryException naming the bytes asked for and free
     */
    DeviceBuffer allocate(long bytes);

    /** Page-locked host memory, from and to which copies are asynchronous. */
    PinnedBuffer allocatePinned(long bytes);

    /**
     * Runs calls of a library with this device's context current; they must not block.
     *
     * @throws UnsupportedException where the platform has no libraries
     */
    default void call(Runnable calls) {
        throw new UnsupportedException(device().name() + " has no libraries of CUDA's");
    }

    /**
     * Starts a thread that works for the context beside callers. The caller sees to it that the thread ends.
     *
     * @throws OutOfMemoryError when there are no more threads
     */
    default void start(Thread thread) {
        thread.start();
    }

    /** A stream of normal priority that does not wait for the legacy default stream. */
    default GpuStream newStream() {
        return newStream(StreamPriority.NORMAL);
    }

    /** A stream that does not wait for the legacy default stream. */
    GpuStream newStream(StreamPriority priority);

    /** @param timing whether {@link GpuEvent#microsecondsSince} will be asked */
    GpuEvent newEvent(boolean timing);

    /**
     * Makes the functions of an image callable.
     *
     * @throws ImageRejected where another image of the same source might do
     * @throws dev.tenon.core.error.NativeException when the driver refuses the image for good
     */
    GpuModule load(ModuleImage image) throws ImageRejected;

    /**
     * The 128 bytes that a kernel takes as a {@code __grid_constant__} parameter to copy boxes of a tensor: for
     * {@link KernelArguments#add(MemorySegment, int)} with an alignment of 128. Managed memory.
     *
     * @throws dev.tenon.core.error.UnsupportedException where the device has no bulk copies
     * @throws dev.tenon.core.error.NativeException when the driver refuses, naming the map
     */
    default MemorySegment encode(TensorMap map) {
        throw new UnsupportedException(
                "tensor map: " + device().name() + " has no bulk copies; they need compute capability 9.0");
    }

    /**
     * The same for copies of a convolution's windows.
     *
     * @throws dev.tenon.core.error.UnsupportedException where the device has no bulk copies
     * @throws dev.tenon.core.error.NativeException when the driver refuses, naming the map
     */
    default MemorySegment encode(WindowMap map) {
        throw new UnsupportedException(
                "map of windows: " + device().name() + " has no bulk copies; they need compute capability 9.0");
    }

    /**
     * Links what {@link #encode} calls, which takes some milliseconds a function in a JVM that has not called it. Does
     * nothing where the device has no bulk copies.
     */
    default void linkMaps() {}

    /** Whether the other is open on the same device: memory, events and streams of one then serve the other. */
    boolean sameDevice(GpuContext other);

    /** Whether kernels of this device may read and write the other's memory; asks only. */
    boolean canAccess(GpuContext peer);

    /** Lets kernels of this device read and write the peer's memory; asking again does nothing. */
    void enableAccess(GpuContext peer);

    /**
     * Makes the device current to the calling thread for a library that works on the current one, until the thread's
     * next call of another context; does nothing where the platform has no such thing.
     */
    default void makeCurrent() {}

    /**
     * Keeps the device's context alive until the process ends, for a library that still works in it; closing this gives
     * back the rest as ever.
     */
    default void keep() {}

    /**
     * Treats the context as lost: a device that does not end its work holds up every call that gives something back.
     * From then on calls fail with this reason, and closing leaves things as they are.
     */
    default void abandon(String why) {}

    /** Waits for everything enqueued on every stream. */
    void synchronize();

    /** Idempotent. Waits for what is enqueued. */
    @Override
    void close();

    /**
     * @param free bytes that could be allocated
     * @param total bytes that the device has
     */
    record MemoryInfo(long free, long total) {}
}
