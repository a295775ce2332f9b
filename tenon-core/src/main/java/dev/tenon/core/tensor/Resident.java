package dev.tenon.core.tensor;

import java.lang.foreign.MemorySegment;

/**
 * A tensor's elements in a device's memory. Made by a program whose caller wants results there, and taken by programs
 * of the same device without a copy through the host. Thread-safe.
 */
public interface Resident extends AutoCloseable {
    /** The device, as {@code Target} writes it. */
    String device();

    /** How often the elements were changed: a copy made at an earlier version is of elements that are no more. */
    long version();

    /**
     * Copies all elements; returns when they are there.
     *
     * @param to as many bytes as the tensor has
     * @throws dev.tenon.core.error.ClosedException after close
     * @throws dev.tenon.core.error.CollectiveException when a collective that was to change the elements has failed
     */
    void read(MemorySegment to);

    /** Gives the memory back once nothing reads it any more. Idempotent. */
    @Override
    void close();
}
