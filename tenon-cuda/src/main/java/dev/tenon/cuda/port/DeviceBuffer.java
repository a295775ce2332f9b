package dev.tenon.cuda.port;

import dev.tenon.core.error.InputException;

/** A piece of device memory. Its address is only for kernel arguments and the copies of a stream. */
public interface DeviceBuffer extends AutoCloseable {
    /** The address that kernels see. @throws dev.tenon.core.error.ClosedException after close */
    long address();

    long bytes();

    /**
     * Does nothing for a range within the buffer.
     *
     * @throws InputException for any other, naming it and the call that it was for
     */
    default void requireWithin(long offset, long length, String call) {
        if (offset < 0 || length < 0 || offset > bytes() - length) {
            throw new InputException(
                    call + ": " + length + " bytes at " + offset + " are not within a buffer of " + bytes() + " bytes");
        }
    }

    /**
     * Gives the memory back. Idempotent. Work already enqueued must not need it any more: who enqueues holds buffers
     * until an event of that stream has passed.
     */
    @Override
    void close();
}
