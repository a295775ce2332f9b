package dev.tenon.cpu.memory;

import java.lang.foreign.MemorySegment;

/**
 * A place in memory: a segment and a byte offset in it. Kernels in machine code take only memory outside the heap.
 *
 * @param offset in bytes
 */
public record Place(MemorySegment memory, long offset) {
    /** No place. */
    public static final Place NONE = new Place(MemorySegment.NULL, 0);

    /** Whether there is no memory here: a segment of no bytes. */
    public boolean isNone() {
        return memory.byteSize() == 0;
    }

    /** The place so many bytes further on; none stays none. */
    public Place plus(long bytes) {
        return isNone() ? this : new Place(memory, offset + bytes);
    }

    /** @throws IndexOutOfBoundsException where so many bytes from here on do not lie within the memory */
    public void check(long bytes) {
        if (offset < 0 || offset > memory.byteSize() - bytes) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes from byte " + offset + " on are not within " + memory.byteSize());
        }
    }

    /**
     * The same for bytes that are written.
     *
     * @throws IllegalArgumentException where the memory is read-only
     */
    public void checkWritable(long bytes) {
        check(bytes);
        if (memory.isReadOnly()) {
            throw new IllegalArgumentException("the memory is read-only");
        }
    }

    /** The row that begins here. */
    public Matrix matrix() {
        return new Matrix(memory, offset, 0);
    }
}
