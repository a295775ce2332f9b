package dev.tenon.core.ir;

import java.util.Arrays;
import java.util.List;

/**
 * How values of several shapes are read under one result shape: the fewest dims that say it, and for each value its
 * stride along each, 0 where it is repeated. Axes of one element are gone, and neighbouring axes that every value walks
 * as one are one.
 */
public final class Broadcast {
    /** Outermost first; empty for a single element. */
    private final long[] sizes;
    /** For each value, in elements. */
    private final long[][] strides;

    private Broadcast(long[] sizes, long[][] strides) {
        this.sizes = sizes;
        this.strides = strides;
    }

    public static Broadcast of(Shape result, List<Shape> values) {
        int rank = result.rank();
        int count = values.size();
        long[][] full = new long[count][rank];
        for (int v = 0; v < count; v++) {
            Shape shape = values.get(v);
            long[] own = shape.strides();
            int lead = rank - own.length;
            for (int axis = 0; axis < own.length; axis++) {
                full[v][lead + axis] = shape.size(axis) == 1 ? 0 : own[axis];
            }
        }
        long[] sizes = new long[rank]; // the dims found, from the back
        int dims = rank;
        for (int axis = rank - 1; axis >= 0; axis--) {
            long size = result.size(axis);
            if (size == 1) {
                continue;
            }
            if (dims < rank && continues(full, axis, dims, sizes[dims])) {
                sizes[dims] *= size;
                continue;
            }
            sizes[--dims] = size;
            for (int v = 0; v < count; v++) {
                full[v][dims] = full[v][axis]; // that axis or one that was read before
            }
        }
        long[][] strides = new long[count][];
        for (int v = 0; v < count; v++) {
            strides[v] = Arrays.copyOfRange(full[v], dims, rank);
        }
        return new Broadcast(Arrays.copyOfRange(sizes, dims, rank), strides);
    }

    /** Whether every value walks an axis and the dim after it, of that size, as one. */
    private static boolean continues(long[][] strides, int axis, int dim, long size) {
        for (long[] own : strides) {
            if (own[axis] != own[dim] * size) {
                return false;
            }
        }
        return true;
    }

    /** Elements along each dim, outermost first; none for a single element. */
    public long[] sizes() {
        return sizes.clone();
    }

    /** How many elements of the value lie between neighbours along each dim; 0 where it is repeated. */
    public long[] strides(int value) {
        return strides[value].clone();
    }

    /** How many elements of the value lie between neighbours along the innermost dim: 1, or 0 where it is repeated. */
    public long innerStride(int value) {
        return sizes.length == 0 ? 0 : strides[value][sizes.length - 1];
    }

    /** Elements along the innermost dim. */
    public long inner() {
        return sizes.length == 0 ? 1 : sizes[sizes.length - 1];
    }

    /** Whether the value is one element, repeated. */
    public boolean isScalar(int value) {
        for (long stride : strides[value]) {
            if (stride != 0) {
                return false;
            }
        }
        return true;
    }

    /** Whether the value is a run of elements along the innermost dim, repeated along all others. */
    public boolean isRow(int value) {
        for (int d = 0; d < sizes.length - 1; d++) {
            if (strides[value][d] != 0) {
                return false;
            }
        }
        return innerStride(value) == 1;
    }

    /** Whether the value has the result's elements in the result's order. */
    public boolean isWhole(int value) {
        long stride = 1;
        for (int d = sizes.length - 1; d >= 0; d--) {
            if (strides[value][d] != stride) {
                return false;
            }
            stride *= sizes[d];
        }
        return true;
    }

    /** The element of the value that the result's element at a row-major position reads. */
    public long at(int value, long position) {
        long rest = position;
        long element = 0;
        for (int d = sizes.length - 1; d > 0; d--) {
            element += rest % sizes[d] * strides[value][d];
            rest /= sizes[d];
        }
        return sizes.length == 0 ? 0 : element + rest * strides[value][0];
    }
}
