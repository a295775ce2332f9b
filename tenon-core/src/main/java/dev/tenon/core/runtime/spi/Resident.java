package dev.tenon.core.runtime.spi;

import java.lang.foreign.MemorySegment;

/** A tensor's elements in a device's memory. Made by a program whose caller wants results there, and taken by programs of the same device without a copy through the host. Thread-safe. */
public interface Resident extends AutoCloseable {
    /**
     * Copies all elements; returns when they are there.
     *
     * @param to as many bytes as the tensor has
     * @throws dev.tenon.core.error.ClosedException after close
     */
    void read(MemorySegment to);

    /** Gives the memory back once nothing reads it any more. Idempotent. */
    @Override
    void close();
}
