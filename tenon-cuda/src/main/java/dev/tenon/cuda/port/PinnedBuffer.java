package dev.tenon.cuda.port;

import java.lang.foreign.MemorySegment;

/** Page-locked host memory. */
public interface PinnedBuffer extends AutoCloseable {
    /** The memory, accessible from any thread until close. */
    MemorySegment segment();

    /** Gives the memory back; the segment is then no longer accessible. Idempotent. */
    @Override
    void close();
}
