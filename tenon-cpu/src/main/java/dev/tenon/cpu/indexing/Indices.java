package dev.tenon.cpu.indexing;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;

/**
 * The indices that a gather or scatter is given: read as 64-bit numbers and checked as such, so that none wraps into
 * range.
 */
final class Indices {
    private final boolean wide;
    private final String op;
    private final String node;

    /**
     * Indices of a type.
     *
     * @param op the operation's mnemonic and {@code node} the node's name, for messages
     */
    Indices(DType dtype, String op, String node) {
        this.wide = switch (dtype) {
            case I64 -> true;
            case I32 -> false;
            default -> throw new IllegalStateException(op + ": indices are " + dtype);
        };
        this.op = op;
        this.node = node;
    }

    long get(MemorySegment segment, long at) {
        return wide ? segment.get(Raw.I64, at * 8) : segment.get(Raw.I32, at * 4);
    }

    /** An index as one from the front. @throws DataException when it is out of range */
    long checked(MemorySegment segment, long at, long size, int axis) {
        long index = get(segment, at);
        if (index < -size || index >= size) {
            throw outOfRange(index, size, axis);
        }
        return index < 0 ? index + size : index;
    }

    private TenonException outOfRange(long index, long size, int axis) {
        return new DataException(op + ": index " + index + " is out of range for axis " + axis + " of size " + size
                        + "; expected " + -size + " to " + (size - 1))
                .at(node);
    }
}
