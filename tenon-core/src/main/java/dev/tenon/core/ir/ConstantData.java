package dev.tenon.core.ir;

import dev.tenon.core.error.ShapeException;
import java.lang.foreign.MemorySegment;

/**
 * The elements of a constant, of a concrete type. Dense data lies outside the heap, mapped from a file or allocated, and is never copied to it; it may start at any byte address, aligned to its elements or not. A splat is one element
 * repeated: a constant of any size that costs nothing.
 *
 * <p>Immutable by agreement: nobody writes to the segment.
 */
public sealed interface ConstantData {
    TensorType type();

    /** All elements, in memory order. */
    record Dense(TensorType type, MemorySegment segment) implements ConstantData {
        public Dense {
            if (segment.byteSize() != type.bytes()) {
                throw new ShapeException(
                        "constant " + type + " takes " + type.bytes() + " bytes, got " + segment.byteSize());
            }
            segment = segment.asReadOnly();
        }
    }

    /** {@code element} (its low bits, as memory has them) everywhere. */
    record Splat(TensorType type, long element) implements ConstantData {}

    /** Bytes held, not bytes meant: a splat holds 8. */
    default long heldBytes() {
        return switch (this) {
            case Dense dense -> dense.segment().byteSize();
            case Splat splat -> Long.BYTES;
        };
    }
}
