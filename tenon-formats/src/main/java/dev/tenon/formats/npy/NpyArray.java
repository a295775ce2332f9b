package dev.tenon.formats.npy;

import dev.tenon.core.error.Require;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.TensorType;
import java.lang.foreign.MemorySegment;

/**
 * An array: a concrete type and its elements, row-major, little-endian, outside the heap when it came from a file.
 *
 * <p>As immutable and as thread-safe as its memory.
 */
public record NpyArray(TensorType type, MemorySegment data) {
    /** @throws ShapeException when there are more or fewer bytes than the type asks for */
    public NpyArray {
        Require.nonNull(type, "type");
        Require.nonNull(data, "data");
        if (data.byteSize() != type.bytes()) {
            throw new ShapeException("array " + type + " takes " + type.bytes() + " bytes, got " + data.byteSize());
        }
    }
}
