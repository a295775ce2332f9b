package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Shape;

/** Where the elements of a broadcast array lie. */
final class BroadcastIndex {
    private BroadcastIndex() {}

    /** For each flat index of {@code to} the flat index of the element of {@code from} that stands there. */
    static int[] of(Shape from, Shape to) {
        int rank = to.rank();
        long[] own = from.strides();
        long[] strides = new long[rank];
        for (int i = 1; i <= from.rank(); i++) {
            strides[rank - i] = from.size(from.rank() - i) == 1 ? 0 : own[from.rank() - i];
        }
        int[] map = new int[Math.toIntExact(to.elements())];
        long[] sizes = to.sizes();
        for (int flat = 0; flat < map.length; flat++) {
            long rest = flat;
            long at = 0;
            for (int axis = rank - 1; axis >= 0; axis--) {
                at += rest % sizes[axis] * strides[axis];
                rest /= sizes[axis];
            }
            map[flat] = (int) at;
        }
        return map;
    }
}
