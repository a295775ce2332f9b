package dev.tenon.cuda.port;

/** A piece of device memory. Its address is only for kernel arguments and the copies of a stream. */
public interface DeviceBuffer extends AutoCloseable {
    /** The address that kernels see. @throws dev.tenon.core.error.ClosedException after close */
    long address();

    long bytes();

    /**
     * Gives the memory back. Idempotent. Work already enqueued must not need it any more: who enqueues holds buffers until an event of that stream has passed.
     */
    @Override
    void close();
}
