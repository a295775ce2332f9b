package dev.tenon.core.tensor;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the elements of a {@link Tensor}: one by one, as arrays, as buffers, or as memory. Positions are row-major;
 * {@link #index} computes one. Arrays are copies, buffers and memory are not.
 *
 * <p>Errors: {@link InputException} for a position out of range, {@link DTypeException} for a type that a method does
 * not read, {@link dev.tenon.core.error.ClosedException} when the memory is gone.
 */
public abstract sealed class ReadableTensor permits Tensor {
    private final TensorType type;

    ReadableTensor(TensorType type) {
        this.type = type;
    }

    /** Returns the elements' memory; see {@link Tensor#segment()}. */
    public abstract MemorySegment segment();

    /** Checks that this thread may read the elements; see {@link Tensor#requireReadable}. */
    public abstract void requireReadable(String use);

    /** The elements' memory, for this thread to read. */
    final MemorySegment readable() {
        requireReadable("tensor");
        return segment();
    }

    /** Returns the element type and the shape, which is concrete. */
    public final TensorType type() {
        return type;
    }

    /** Returns the element type. */
    public final DType dtype() {
        return type.dtype();
    }

    /** Returns the shape, which is concrete. */
    public final Shape shape() {
        return type.shape();
    }

    /** The number of elements. */
    public final long elements() {
        return type.shape().elements();
    }

    /** Returns the bytes that the elements take. */
    public final long byteSize() {
        return type.bytes();
    }

    /**
     * Returns the elements of an f32 tensor as a buffer over its own memory.
     *
     * @throws ShapeException past 2^31 - 1 bytes
     */
    public final FloatBuffer asFloatBuffer() {
        return buffer(DType.F32).asFloatBuffer();
    }

    /**
     * Returns the elements of an f64 tensor as a buffer over its own memory.
     *
     * @throws ShapeException past 2^31 - 1 bytes
     */
    public final DoubleBuffer asDoubleBuffer() {
        return buffer(DType.F64).asDoubleBuffer();
    }

    /**
     * Returns the elements of an i64 or u64 tensor as a buffer over its own memory.
     *
     * @throws ShapeException past 2^31 - 1 bytes
     */
    public final LongBuffer asLongBuffer() {
        return buffer(DType.I64, DType.U64).asLongBuffer();
    }

    /**
     * Returns the elements of an i32 or u32 tensor as a buffer over its own memory.
     *
     * @throws ShapeException past 2^31 - 1 bytes
     */
    public final IntBuffer asIntBuffer() {
        return buffer(DType.I32, DType.U32).asIntBuffer();
    }

    /**
     * Returns the elements of a tensor of a 16-bit type, f16 and bf16 as their bits, as a buffer over its own memory.
     *
     * @throws ShapeException past 2^31 - 1 bytes
     */
    public final ShortBuffer asShortBuffer() {
        return buffer(DType.I16, DType.U16, DType.F16, DType.BF16).asShortBuffer();
    }

    /**
     * The bytes of a tensor of any type as a buffer over its own memory, little-endian.
     *
     * @throws ShapeException past 2^31 - 1 bytes
     */
    public final ByteBuffer asByteBuffer() {
        return buffer(DType.values());
    }

    private ByteBuffer buffer(DType... accepted) {
        require(accepted);
        if (byteSize() > Integer.MAX_VALUE) {
            throw new ShapeException(
                    "tensor " + type + " is too large for a buffer: " + byteSize() + " bytes; use segment()");
        }
        return readable().asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * The row-major position of an element.
     *
     * @param position one index for each axis, each of which may be negative to count from the back
     * @throws InputException when an index is out of range, or there are more or fewer than axes
     */
    public final long index(long... position) {
        int rank = shape().rank();
        if (Require.nonNull(position, "position").length != rank) {
            throw InputException.of(
                    "position",
                    "argument \"position\" has " + position.length + " indices; expected " + rank + " for " + type);
        }
        long flat = 0;
        for (int axis = 0; axis < rank; axis++) {
            long size = shape().size(axis);
            long at = position[axis] < 0 ? position[axis] + size : position[axis];
            if (at < 0 || at >= size) {
                throw InputException.of(
                        "position",
                        "argument \"position\" is " + position[axis] + " for axis " + axis + " of " + type
                                + "; expected -" + size + " to " + (size - 1));
            }
            flat = flat * size + at;
        }
        return flat;
    }

    /** Returns one element of any type as a double, by its row-major position; exact but for large 64-bit integers. */
    public final double getDouble(long index) {
        return Elements.getDouble(dtype(), readable(), Require.index(index, elements(), "index"));
    }

    /**
     * Returns one element of a float type up to f32 as a float, by its row-major position.
     *
     * @throws DTypeException for other types
     */
    public final float getFloat(long index) {
        requireFloat();
        return (float) Elements.getDouble(dtype(), readable(), Require.index(index, elements(), "index"));
    }

    /** Returns one element of any type as an integer, by its row-major position; a float is truncated. */
    public final long getLong(long index) {
        return Elements.getLong(dtype(), readable(), Require.index(index, elements(), "index"));
    }

    /**
     * Returns one element of an integer type that fits an int, or a boolean as 0 or 1, by its row-major position.
     *
     * @throws DTypeException for other types
     */
    public final int getInt(long index) {
        if (dtype().isFloat() || dtype().bits() > 32 || dtype() == DType.U32) {
            throw mismatch("an integer type of at most 32 bits that an int holds; use getLong or getDouble");
        }
        return (int) Elements.getLong(dtype(), readable(), Require.index(index, elements(), "index"));
    }

    /** Returns one element of a bool tensor, by its row-major position. @throws DTypeException for other types */
    public final boolean getBoolean(long index) {
        require(DType.BOOL);
        return Elements.getLong(DType.BOOL, readable(), Require.index(index, elements(), "index")) != 0;
    }

    /**
     * A copy of the elements of a float type up to f32.
     *
     * @throws DTypeException for other types
     * @throws ShapeException when an array cannot hold them
     */
    public final float[] toFloats() {
        requireFloat();
        if (dtype() == DType.F32) {
            return readable().asSlice(0, 4L * arrayLength()).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
        }
        float[] values = new float[arrayLength()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) Elements.getDouble(dtype(), readable(), i);
        }
        return values;
    }

    /**
     * A copy of the elements of an integer type or bool, u64 as its bits.
     *
     * @throws DTypeException for float types
     * @throws ShapeException when an array cannot hold them
     */
    public final long[] toLongs() {
        if (dtype().isFloat()) {
            throw mismatch("an integer type; use toDoubles");
        }
        if (dtype().bits() == 64) {
            return readable().asSlice(0, 8L * arrayLength()).toArray(ValueLayout.JAVA_LONG_UNALIGNED);
        }
        long[] values = new long[arrayLength()];
        for (int i = 0; i < values.length; i++) {
            values[i] = Elements.getLong(dtype(), readable(), i);
        }
        return values;
    }

    /**
     * A copy of the elements of an integer type that fits an int, or of booleans as 0 and 1.
     *
     * @throws DTypeException for other types
     * @throws ShapeException when an array cannot hold them
     */
    public final int[] toInts() {
        int[] values = new int[arrayLength()];
        for (int i = 0; i < values.length; i++) {
            values[i] = getInt(i);
        }
        return values;
    }

    /**
     * A copy of the elements of a bool tensor.
     *
     * @throws DTypeException for other types
     * @throws ShapeException when an array cannot hold them
     */
    public final boolean[] toBooleans() {
        require(DType.BOOL);
        boolean[] values = new boolean[arrayLength()];
        for (int i = 0; i < values.length; i++) {
            values[i] = getBoolean(i);
        }
        return values;
    }

    /**
     * Returns a copy of the elements, of any type, as doubles.
     *
     * @throws ShapeException when an array cannot hold them
     */
    public final double[] toDoubles() {
        double[] values = new double[arrayLength()];
        for (int i = 0; i < values.length; i++) {
            values[i] = getDouble(i);
        }
        return values;
    }

    /**
     * Whether the other is a tensor of the same type with the same elements, bit by bit: NaN equals itself, 0 and -0
     * differ. Copies elements that lie on a device.
     */
    @Override
    public final boolean equals(@Nullable Object other) {
        return other == this
                || (other instanceof ReadableTensor tensor
                        && type.equals(tensor.type())
                        && TensorContents.equal(type, readable(), tensor.readable()));
    }

    /** Of the type and the first elements. */
    @Override
    public final int hashCode() {
        return TensorContents.hash(type, readable());
    }

    private int arrayLength() {
        long count = elements();
        if (count > Integer.MAX_VALUE - 8) {
            throw new ShapeException(
                    "tensor " + type + " is too large for a Java array: " + count + " elements; use segment()");
        }
        return (int) count;
    }

    private void require(DType... accepted) {
        if (!List.of(accepted).contains(dtype())) {
            throw mismatch(accepted.length == 1 ? accepted[0].toString() : "one of " + List.of(accepted));
        }
    }

    private void requireFloat() {
        if (!dtype().isFloat() || dtype() == DType.F64) {
            throw mismatch("a float type of at most 32 bits; use getDouble or toDoubles");
        }
    }

    private DTypeException mismatch(String expected) {
        return new DTypeException("the tensor is " + type + "; expected " + expected);
    }
}
