package dev.tenon.core.ir;

import dev.tenon.core.error.Require;
import org.jspecify.annotations.Nullable;

/** What a value is: its element type and its shape. */
public record TensorType(DType dtype, Shape shape) {
    public TensorType {
        Require.nonNull(dtype, "dtype");
        Require.nonNull(shape, "shape");
    }

    /** A type of those sizes. */
    public static TensorType of(DType dtype, long... sizes) {
        return new TensorType(dtype, Shape.of(sizes));
    }

    /** Whether the two are the same type whatever numbers the names of dims get. */
    public boolean mustEqual(TensorType other) {
        return dtype == Require.nonNull(other, "other").dtype && shape.mustEqual(other.shape);
    }

    /** Bytes of a concrete type. @throws dev.tenon.core.error.OutOfMemoryException past 2^63 */
    public long bytes() {
        return dtype.bytesFor(shape.elements());
    }

    // written out: plans compare types before the JVM has compiled the methods that records get

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof TensorType type && dtype == type.dtype && shape.equals(type.shape));
    }

    @Override
    public int hashCode() {
        return 31 * dtype.hashCode() + shape.hashCode();
    }

    /** {@code f32[2,3]}. */
    @Override
    public String toString() {
        return dtype.toString() + shape;
    }
}
