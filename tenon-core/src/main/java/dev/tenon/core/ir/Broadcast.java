package dev.tenon.core.ir;

import java.util.ArrayList;
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
        long[][] full = new long[values.size()][rank];
        for (int v = 0; v < full.length; v++) {
            Shape shape = values.get(v);
            long[] own = shape.strides();
            int lead = rank - shape.rank();
            for (int axis = 0; axis < shape.rank(); axis++) {
                full[v][lead + axis] = shape.size(axis) == 1 ? 0 : own[axis];
            }
        }
        List<Long> sizes = new ArrayList<>();
        List<long[]> columns = new ArrayList<>(); // the strides of all values along one axis
        for (int axis = rank - 1; axis >= 0; axis--) {
            long size = result.size(axis);
            if (size == 1) {
                continue;
            }
            int at = axis;
            long[] here = Arrays.stream(full).mapToLong(strides -> strides[at]).toArray();
            if (!sizes.isEmpty() && continues(here, columns.getLast(), sizes.getLast())) {
                sizes.set(sizes.size() - 1, sizes.getLast() * size);
            } else {
                sizes.add(size);
                columns.add(here);
            }
        }
        int dims = sizes.size();
        long[][] strides = new long[full.length][dims];
        long[] extents = new long[dims];
        for (int d = 0; d < dims; d++) {
            extents[d] = sizes.get(dims - 1 - d);
            for (int v = 0; v < full.length; v++) {
                strides[v][d] = columns.get(dims - 1 - d)[v];
            }
        }
        return new Broadcast(extents, strides);
    }

    private static boolean continues(long[] outer, long[] inner, long innerSize) {
        for (int v = 0; v < outer.length; v++) {
            if (outer[v] != inner[v] * innerSize) {
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
        return Arrays.stream(strides[value]).allMatch(stride -> stride == 0);
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
