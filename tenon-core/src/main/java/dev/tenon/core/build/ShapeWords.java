package dev.tenon.core.build;

import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;

/** What the words for shapes share. */
final class ShapeWords {
    private ShapeWords() {}

    /**
     * Whether a Reshape can say these dims, which are x's but for some of size 1: one at most is not a number, and
     * nothing is empty beside it.
     */
    static boolean isReshape(Shape x, List<Dim> dims) {
        long open = dims.stream().filter(dim -> !dim.isFixed()).count();
        return x.dims().stream().filter(dim -> !dim.isFixed()).count() == open
                && (open == 0 || (open == 1 && dims.stream().noneMatch(dim -> dim.is(0))));
    }

    static Value constant(OpBuilder g, List<Long> values) {
        return g.constant(
                NdArray.ofLongs(values.stream().mapToLong(Long::longValue).toArray())
                        .toConstant());
    }

    /** Returns the size of the axis, 0 where it is not known; refuses ends outside of a known one. */
    static long requireRange(Value x, int axis, long from, long to) {
        Dim dim = x.shape().dim(axis);
        if (!dim.isFixed()) {
            return 0;
        }
        long size = dim.size();
        long start = from < 0 ? from + size : from;
        long end = to == Long.MAX_VALUE ? size : to < 0 ? to + size : to;
        if (start < 0 || start > end || end > size) {
            throw Words.shape(
                    "slice",
                    x,
                    "[" + from + ", " + (to == Long.MAX_VALUE ? "end" : String.valueOf(to)) + ") of axis " + axis
                            + " of " + x.shape() + "; expected -" + size + " <= from <= to <= " + size);
        }
        return size;
    }

    static Value[] notEmpty(String op, List<Value> parts) {
        if (parts.isEmpty()) {
            throw InputException.of("parts", op + ": argument \"parts\" is empty; expected one value or more")
                    .within(op, List.of());
        }
        return parts.toArray(Value[]::new);
    }
}
