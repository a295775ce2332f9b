package dev.tenon.collective;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.ir.DType;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Elements in host memory: a Java array, or any memory segment, in the machine's byte order and at any alignment.
 * Nothing is copied.
 *
 * <p>Immutable; the elements are the caller's, who leaves them alone while a collective runs.
 */
public final class HostBuffer implements Buffer {
    private final MemorySegment memory;
    private final DType dtype;
    private final long length;

    private HostBuffer(MemorySegment memory, DType dtype, long length) {
        this.memory = memory;
        this.dtype = dtype;
        this.length = length;
    }

    private static <A> A given(A elements) {
        return ArgumentChecks.requireGiven("HostBuffer.of", "elements", elements);
    }

    /** The elements of an array, as f32. */
    public static HostBuffer of(float[] elements) {
        return new HostBuffer(MemorySegment.ofArray(given(elements)), DType.F32, elements.length);
    }

    /** The elements of an array, as f64. */
    public static HostBuffer of(double[] elements) {
        return new HostBuffer(MemorySegment.ofArray(given(elements)), DType.F64, elements.length);
    }

    /** The elements of an array, as i32. */
    public static HostBuffer of(int[] elements) {
        return new HostBuffer(MemorySegment.ofArray(given(elements)), DType.I32, elements.length);
    }

    /** The elements of an array, as i64. */
    public static HostBuffer of(long[] elements) {
        return new HostBuffer(MemorySegment.ofArray(given(elements)), DType.I64, elements.length);
    }

    /**
     * All elements of a segment.
     *
     * @throws InputException when its bytes are not a whole number of elements
     * @throws dev.tenon.core.error.DTypeException for packed types, whose elements have no bytes of their own
     */
    public static HostBuffer of(MemorySegment memory, DType dtype) {
        ArgumentChecks.requireGiven("HostBuffer.of", "memory", memory);
        int bytes = ArgumentChecks.requireGiven("HostBuffer.of", "dtype", dtype).bytes();
        if (memory.byteSize() % bytes != 0) {
            throw new InputException("a buffer of " + memory.byteSize() + " bytes is not a whole number of " + dtype
                    + " elements of " + bytes + " bytes");
        }
        return new HostBuffer(memory, dtype, memory.byteSize() / bytes);
    }

    /** A view of {@code length} elements from {@code from} on. @throws InputException when they are not all there */
    public HostBuffer slice(long from, long length) {
        if (from < 0 || length < 0 || from > this.length - length) {
            throw new InputException(
                    "elements " + from + " to " + (from + length) + " of a buffer of " + this.length + " " + dtype);
        }
        return new HostBuffer(memory.asSlice(dtype.bytesFor(from), dtype.bytesFor(length)), dtype, length);
    }

    @Override
    public DType dtype() {
        return dtype;
    }

    @Override
    public long length() {
        return length;
    }

    /** The memory under the elements. */
    public MemorySegment memory() {
        return memory;
    }

    /** The Java array under the elements when it is of that type and begins with the first of them, else null. */
    public <A> @Nullable A array(Class<A> type) {
        Require.nonNull(type, "type");
        Object base = memory.heapBase().orElse(null);
        return type.isInstance(base) && memory.address() == 0 ? type.cast(base) : null;
    }

    /** Copies all elements to a buffer of the same type and length; right for overlapping ones too. */
    public void copyTo(HostBuffer target) {
        Require.nonNull(target, "target");
        MemorySegment.copy(memory, 0, target.memory, 0, memory.byteSize());
    }

    /** Copies {@code count} elements from {@code from} on to the same places of a buffer of the same type. */
    public void copyTo(HostBuffer target, long from, long count) {
        Require.nonNull(target, "target");
        long size = dtype.bytes();
        MemorySegment.copy(memory, from * size, target.memory, from * size, count * size);
    }

    /** Whether both lie over some byte that is the same. */
    public boolean overlaps(HostBuffer other) {
        Require.nonNull(other, "other");
        return memory.byteSize() != 0
                && other.memory.byteSize() != 0
                && memory.asOverlappingSlice(other.memory).isPresent();
    }

    /** Whether both are the same elements. */
    public boolean same(HostBuffer other) {
        Require.nonNull(other, "other");
        return this == other || memory.equals(other.memory);
    }

    @Override
    public String toString() {
        return length + " " + dtype;
    }
}
