package dev.tenon.core.compiler;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Folds operations whose result is a span of a constant's memory: neighbouring rows of a table, under any shape. The
 * result shares that memory, so a table of positions costs a plan nothing.
 */
final class Rows {
    /** More look-ups than this are not read to learn whether they are neighbours. */
    private static final long MAX_LOOKUPS = 1 << 16;

    private Rows() {}

    /** The folded constant; null where it is no span of a constant. */
    static @Nullable ConstantData fold(Primitive op, List<ConstantData> inputs, List<TensorType> types) {
        if (inputs.isEmpty()
                || !(inputs.getFirst() instanceof ConstantData.Dense data)
                || data.type().dtype().bits() % Byte.SIZE != 0
                || types.getFirst().shape().elements() == 0) {
            return null;
        }
        long first = switch (op) {
            case Reshape _ -> 0;
            case Slice slice -> first(slice, data.type().shape());
            case Gather(int axis) -> axis == 0 ? first(data.type().shape(), inputs.get(1)) : -1;
            default -> -1;
        };
        if (first < 0) {
            return null;
        }
        return data.part(types.getFirst(), first).compacted();
    }

    /** The first element of a slice that takes whole rows, but for the outermost axis of more than one; or -1. */
    private static long first(Slice slice, Shape x) {
        long first = 0;
        boolean cut = false;
        for (int axis = x.rank() - 1; axis >= 0; axis--) {
            long size = slice.sizes().get(axis);
            if (cut && size != 1) {
                return -1;
            }
            if (size > 1 && slice.steps().get(axis) != 1) {
                return -1;
            }
            cut |= size != x.size(axis);
            long row = x.elements(axis + 1, x.rank());
            first = SizeMath.sum(
                    "slice", first, SizeMath.product("slice", slice.starts().get(axis), row));
        }
        return first;
    }

    /** The first element of rows that lie one after another; or -1. */
    private static long first(Shape table, ConstantData lookups) {
        long count = lookups.type().shape().elements();
        if (count > MAX_LOOKUPS) {
            return -1;
        }
        NdArray indices = NdArray.of(lookups);
        long row = indices.getLong(0);
        for (int i = 1; i < count; i++) {
            if (indices.getLong(i) != row + i) {
                return -1;
            }
        }
        boolean inside = row >= 0 && row + count <= table.size(0);
        return inside ? SizeMath.product("gather", row, table.elements(1, table.rank())) : -1;
    }
}
