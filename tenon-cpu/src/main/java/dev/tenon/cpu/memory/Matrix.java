package dev.tenon.cpu.memory;

import java.lang.foreign.MemorySegment;

/**
 * Rows in memory. Kernels in machine code take only memory outside the heap.
 *
 * @param offset of the first row, in bytes
 * @param stride from a row to the next, in bytes; zero for one row that stands for all
 */
public record Matrix(MemorySegment memory, long offset, long stride) {
    /** No matrix. */
    public static final Matrix NONE = new Matrix(MemorySegment.NULL, 0, 0);

    /** The rows so many bytes further on. */
    public Matrix plus(long bytes) {
        return bytes == 0 ? this : new Matrix(memory, offset + bytes, stride);
    }

    /** Whether it is no matrix. */
    public boolean isNone() {
        return memory.address() == 0;
    }

    /** Whether rows of so many bytes are whole vectors of so many bytes, and aligned to them. */
    public boolean isWholeVectors(long bytes, long vector) {
        return bytes % vector == 0 && stride % vector == 0 && (memory.address() + offset) % vector == 0;
    }

    /** Whether so many rows of so many bytes lie within the memory. */
    public boolean holds(long rows, long bytes) {
        long room = memory.byteSize() - bytes; // for the rows before the last
        boolean fits = offset >= 0 && stride >= 0 && room >= offset;
        return fits && (rows <= 1 || stride <= (room - offset) / (rows - 1));
    }

    /** @throws IndexOutOfBoundsException where they do not */
    public void check(long rows, long bytes) {
        if (!holds(rows, bytes)) {
            throw new IndexOutOfBoundsException(rows + " rows of " + bytes + " bytes, " + stride + " apart from byte "
                    + offset + ", are not within " + memory.byteSize() + " bytes");
        }
    }

    /**
     * The same for rows that are written.
     *
     * @throws IllegalArgumentException where the memory is read-only
     */
    public void checkWritable(long rows, long bytes) {
        check(rows, bytes);
        if (memory.isReadOnly()) {
            throw new IllegalArgumentException("the memory is read-only");
        }
    }
}
