package dev.tenon.core.ir;

import dev.tenon.core.error.ShapeException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The elements of a constant, of a concrete type. Dense data lies outside the heap, mapped from a file or allocated,
 * and is never copied to it; it may start at any byte address, aligned to its elements or not. A splat is one element
 * repeated: a constant of any size that costs nothing.
 *
 * <p>Immutable by agreement: nobody writes to the segment.
 */
public sealed interface ConstantData {
    TensorType type();

    /**
     * All elements, in memory order.
     *
     * @param whole the constant that they are a part of, in the same memory, which a device may hold once for all
     *     parts; the segment itself where they are no part
     */
    record Dense(TensorType type, MemorySegment segment, MemorySegment whole) implements ConstantData {
        public Dense {
            if (segment.byteSize() != type.bytes()) {
                throw new ShapeException(
                        "constant " + type + " takes " + type.bytes() + " bytes, got " + segment.byteSize());
            }
            segment = segment.asReadOnly();
            whole = whole.asReadOnly();
        }

        /** A constant of its own. */
        public Dense(TensorType type, MemorySegment segment) {
            this(type, segment, segment);
        }

        /**
         * Elements that lie one after another among these, of the same type of elements.
         *
         * @param first the first one's number
         */
        public Dense part(TensorType part, long first) {
            return new Dense(part, segment.asSlice(part.dtype().bytesFor(first), part.bytes()), whole);
        }

        /** The same memory as the same type; the elements are not compared. */
        @Override
        public boolean equals(@Nullable Object other) {
            return this == other
                    || (other instanceof Dense dense && segment.equals(dense.segment) && type.equals(dense.type));
        }

        @Override
        public int hashCode() {
            // constants of a file lie at multiples of large powers of two, which a hash table would put in one place
            return Integer.rotateLeft(Long.hashCode(segment.address() + segment.byteSize()) * 0x9E3779B9, 16);
        }

        /** A splat where there are several elements and all are equal; else this. */
        public ConstantData compacted() {
            long count = type.shape().elements();
            if (count <= 1 || type.dtype().bits() < Byte.SIZE) {
                return this;
            }
            long first = Elements.bits(type.dtype(), segment, 0);
            for (long i = 1; i < count; i++) {
                if (Elements.bits(type.dtype(), segment, i) != first) {
                    return this;
                }
            }
            return new Splat(type, first);
        }
    }

    /** {@code element} (its low bits, as memory has them) everywhere. */
    record Splat(TensorType type, long element) implements ConstantData {
        /** Elements of a fill that are written; the others are copied. */
        private static final long ONE_BY_ONE = 64;

        /** Bytes copied at a time, which stay in a cache. */
        private static final long MOST_COPIED = 1 << 14;

        /** Writes all elements to as many bytes as the type takes. */
        public void fill(MemorySegment to) {
            int bits = type.dtype().bits();
            if (bits <= 8) {
                to.fill((byte) (bits == 8 ? element : (element & 0xF) * 0x11));
                return;
            }
            long count = type.shape().elements();
            long first = Math.min(count, ONE_BY_ONE);
            for (long i = 0; i < first; i++) {
                Elements.setBits(type.dtype(), to, i, element);
            }
            long bytes = type.bytes();
            for (long done = type.dtype().bytesFor(first); done < bytes; ) {
                long now = Math.min(Math.min(done, MOST_COPIED), bytes - done);
                MemorySegment.copy(to, 0, to, done, now);
                done += now;
            }
        }

        /** All elements in memory that is freed when unreachable: for preparing other forms, not for keeping. */
        public MemorySegment materialise() {
            MemorySegment all = HostMemory.allocate(type.bytes(), 64);
            fill(all);
            return all;
        }
    }

    /** All elements, in memory order: where they lie, or materialised. */
    default MemorySegment elements() {
        return switch (this) {
            case Dense dense -> dense.segment();
            case Splat splat -> splat.materialise();
        };
    }

    /**
     * The same elements under another shape of as many; nothing is copied.
     *
     * @throws ShapeException when the numbers differ
     */
    default ConstantData reshaped(Shape shape) {
        TensorType reshaped = new TensorType(type().dtype(), shape);
        if (shape.elements() != type().shape().elements()) {
            throw new ShapeException("constant " + type() + " does not have the elements of " + reshaped);
        }
        return switch (this) {
            case Dense dense -> new Dense(reshaped, dense.segment(), dense.whole());
            case Splat splat -> new Splat(reshaped, splat.element());
        };
    }

    /** Bytes held, not bytes meant: a splat holds 8. */
    default long heldBytes() {
        return switch (this) {
            case Dense dense -> dense.segment().byteSize();
            case Splat splat -> Long.BYTES;
        };
    }
}
