package dev.tenon.mpi;

import dev.tenon.core.error.OutOfMemoryException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory outside the heap, where MPI may read and write while the garbage collector moves arrays about. Grows, never
 * shrinks; kept for the next operation. Not thread-safe.
 */
final class HostStaging {
    private static final long ALIGNMENT = 64;
    private MemorySegment memory = MemorySegment.NULL;

    MemorySegment of(long bytes) {
        if (memory.byteSize() < bytes) {
            try {
                memory = Arena.ofAuto().allocate(bytes, ALIGNMENT);
            } catch (OutOfMemoryError | IllegalArgumentException e) {
                throw new OutOfMemoryException(
                        "no " + bytes + " bytes outside the heap to stage a message for MPI", bytes, e);
            }
        }
        return memory.asSlice(0, bytes);
    }
}
