package dev.tenon.core.ir.reference;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;

/**
 * Walks over arrays: strided views, broadcasting, lanes along an axis. Everything the references need to find elements.
 */
public final class Indexing {
    private Indexing() {}

    /**
     * For each element of an array of those sizes, in row-major order, {@code base} plus its index times the strides.
     */
    public static int[] offsets(long[] sizes, long base, long[] strides) {
        int[] offsets = new int[SizeMath.toInt("element index", Shape.of(sizes).elements())];
        if (offsets.length == 0) {
            return offsets;
        }
        long[] index = new long[sizes.length];
        long at = base;
        for (int i = 0; ; i++) {
            offsets[i] = SizeMath.toInt("element index", at);
            int axis = sizes.length - 1;
            while (axis >= 0 && ++index[axis] == sizes[axis]) {
                at -= (sizes[axis] - 1) * strides[axis];
                index[axis--] = 0;
            }
            if (axis < 0) {
                return offsets;
            }
            at += strides[axis];
        }
    }

    /** A new array of that shape, whose elements are those of {@code source} at the offsets. */
    static NdArray take(NdArray source, Shape shape, int[] offsets) {
        NdArray result = NdArray.zeros(new TensorType(source.dtype(), shape));
        for (int i = 0; i < offsets.length; i++) {
            result.copy(i, source, offsets[i]);
        }
        return result;
    }

    /** The source's elements under a strided view. */
    public static NdArray view(NdArray source, Shape shape, long base, long[] strides) {
        return take(source, shape, offsets(shape.sizes(), base, strides));
    }

    /** The strides that make {@code from} look like the larger {@code to}: 0 along broadcast axes. */
    static long[] broadcastStrides(Shape from, Shape to) {
        long[] own = from.strides();
        long[] strides = new long[to.rank()];
        int lead = to.rank() - from.rank();
        for (int axis = 0; axis < own.length; axis++) {
            strides[lead + axis] = from.size(axis) == 1 ? 0 : own[axis];
        }
        return strides;
    }

    /** For each element of {@code to}, the index of its element in {@code from}. */
    public static int[] broadcast(Shape from, Shape to) {
        return offsets(to.sizes(), 0, broadcastStrides(from, to));
    }

    /** The array broadcast to a shape. */
    public static NdArray broadcast(NdArray source, Shape to) {
        return take(source, to, broadcast(source.shape(), to));
    }

    /** What {@link #forEachLane} hands out. */
    public interface Lane {
        void at(int base, int stride);
    }

    /**
     * Every one-dimensional run along an axis, by the index of its first element and the distance to the next; none
     * where the axis is empty.
     */
    public static void forEachLane(Shape shape, int axis, Lane lane) {
        int inner = SizeMath.toInt("element index", shape.elements(axis + 1, shape.rank()));
        int outer = SizeMath.toInt("element index", shape.elements(0, axis));
        int block = SizeMath.toInt("element index", shape.size(axis), inner);
        for (int o = 0; block > 0 && o < outer; o++) {
            for (int i = 0; i < inner; i++) {
                lane.at(o * block + i, inner);
            }
        }
    }

    /** An index from either end as one from the front. @throws DataException when it is out of range */
    public static int wrap(String op, long index, int size, int axis) {
        if (index < -size || index >= size) {
            throw new DataException(op + ": index " + index + " is out of range for axis " + axis + " of size " + size
                    + "; expected " + -size + " to " + (size - 1));
        }
        return (int) (index < 0 ? index + size : index);
    }
}
