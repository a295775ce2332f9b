package dev.tenon.core.ir;

import dev.tenon.core.error.UnsupportedException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A small array on the heap for reference arithmetic: floats of any type as {@code double}, not rounded to their type
 * until they are stored; integers and booleans as {@code long}. Row-major.
 *
 * <p>For tests, shape arithmetic and folding of small constants; at most 2^31 - 9 elements. Not thread-safe.
 */
public final class NdArray {
    private final TensorType type;
    private final double @Nullable [] doubles;
    private final long @Nullable [] longs;

    private NdArray(TensorType type) {
        long elements = requireHeap(type);
        this.type = type;
        this.doubles = type.dtype().isFloat() ? new double[(int) elements] : null;
        this.longs = type.dtype().isFloat() ? null : new long[(int) elements];
    }

    /** The elements of a type, which an array can hold. @throws UnsupportedException when it cannot */
    public static long requireHeap(TensorType type) {
        long elements = type.shape().elements();
        if (elements > Integer.MAX_VALUE - 8) {
            throw new UnsupportedException("reference arithmetic holds arrays on the heap: " + type
                    + " is too large; expected at most 2^31 - 9 elements");
        }
        return elements;
    }

    public static NdArray zeros(TensorType type) {
        return new NdArray(type);
    }

    public static NdArray zeros(DType dtype, long... sizes) {
        return new NdArray(TensorType.of(dtype, sizes));
    }

    /** A float array of those values, rounded to the type. */
    public static NdArray of(TensorType type, double... values) {
        NdArray array = new NdArray(type);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, Elements.toDouble(type.dtype(), Elements.fromDouble(type.dtype(), values[i])));
        }
        return array;
    }

    /** A vector of 64-bit integers. */
    public static NdArray ofLongs(long... values) {
        return of(TensorType.of(DType.I64, values.length), values);
    }

    public static NdArray of(TensorType type, long... values) {
        NdArray array = new NdArray(type);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, values[i]);
        }
        return array;
    }

    /** The elements that memory holds. */
    public static NdArray read(TensorType type, MemorySegment segment) {
        NdArray array = new NdArray(type);
        if (type.dtype() == DType.I64) { // what plans look at
            MemorySegment.copy(segment, Elements.LONG, 0, Objects.requireNonNull(array.longs), 0, array.size());
            return array;
        }
        for (int i = 0; i < array.size(); i++) {
            array.setBits(i, Elements.bits(type.dtype(), segment, i));
        }
        return array;
    }

    public static NdArray of(ConstantData data) {
        return switch (data) {
            case ConstantData.Dense(TensorType type, MemorySegment segment, var _) -> read(type, segment);
            case ConstantData.Splat(TensorType type, long element) -> {
                NdArray array = new NdArray(type);
                for (int i = 0; i < array.size(); i++) {
                    array.setBits(i, element);
                }
                yield array;
            }
        };
    }

    private void setBits(int index, long bits) {
        if (doubles != null) {
            doubles[index] = Elements.toDouble(dtype(), bits);
        } else {
            set(index, Elements.toLong(dtype(), bits));
        }
    }

    /** Writes the elements to memory, rounded to their type. */
    public void write(MemorySegment segment) {
        for (int i = 0; i < size(); i++) {
            if (doubles != null) {
                Elements.setDouble(dtype(), segment, i, doubles[i]);
            } else {
                Elements.setLong(dtype(), segment, i, getLong(i));
            }
        }
    }

    /** The elements as constant data outside the heap, a splat where all are equal; freed when unreachable. */
    public ConstantData toConstant() {
        MemorySegment segment = HostMemory.allocate(type.bytes(), 64);
        write(segment);
        return new ConstantData.Dense(type, segment).compacted();
    }

    public TensorType type() {
        return type;
    }

    public DType dtype() {
        return type.dtype();
    }

    public Shape shape() {
        return type.shape();
    }

    /** The number of elements. */
    public int size() {
        return doubles != null ? doubles.length : java.util.Objects.requireNonNull(longs).length;
    }

    /** The element as a number; unsigned 64-bit ones too. */
    public double get(int index) {
        return doubles != null
                ? doubles[index]
                : Elements.toDouble(dtype(), Elements.fromLong(dtype(), getLong(index)));
    }

    /** The element as an integer, a float truncated as a Java cast does. */
    public long getLong(int index) {
        return longs != null ? longs[index] : (long) get(index);
    }

    /** Sets an element; of an integer array with the saturating conversion of {@link Elements}. */
    public void set(int index, double value) {
        if (doubles != null) {
            doubles[index] = value;
        } else {
            set(index, Elements.toLong(dtype(), Elements.fromDouble(dtype(), value)));
        }
    }

    /** Sets an element; an integer wraps to its type. */
    public void set(int index, long value) {
        if (longs != null) {
            longs[index] = Elements.toLong(dtype(), Elements.fromLong(dtype(), value));
        } else {
            set(index, (double) value);
        }
    }

    /**
     * Copies element {@code from} of {@code source}, an array of the same type, to element {@code to} here, as it is.
     */
    public void copy(int to, NdArray source, int from) {
        if (doubles != null) {
            doubles[to] = source.get(from);
        } else {
            java.util.Objects.requireNonNull(longs)[to] = source.getLong(from);
        }
    }

    /** The same elements under another shape of as many. */
    public NdArray reshaped(Shape shape) {
        NdArray array = new NdArray(new TensorType(dtype(), shape));
        for (int i = 0; i < size(); i++) {
            array.copy(i, this, i);
        }
        return array;
    }

    /** The elements as longs: for shapes, axes, counts. */
    public long[] toLongs() {
        long[] all = new long[size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = getLong(i);
        }
        return all;
    }

    /** The elements as doubles. */
    public double[] toDoubles() {
        double[] all = new double[size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = get(i);
        }
        return all;
    }

    @Override
    public String toString() {
        String all = java.util.Arrays.toString(toDoubles());
        return type + (all.length() > 200 ? all.substring(0, 200) + "…" : all);
    }
}
