package dev.tenon.core.compiler;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Folds operations on constants of one repeated element, whatever their size, without ever writing the elements out.
 */
final class Splats {
    private Splats() {}

    /** The folded constant; null where an input is no splat or the operation does not keep splats. */
    static @Nullable ConstantData fold(Primitive op, List<ConstantData> inputs, List<TensorType> types) {
        for (ConstantData input : inputs) {
            if (!(input instanceof ConstantData.Splat)) {
                return null;
            }
        }
        List<ConstantData.Splat> splats =
                inputs.stream().map(ConstantData.Splat.class::cast).toList();
        TensorType type = types.getFirst();
        if (op instanceof Unary
                || op instanceof Binary
                || op instanceof Compare
                || op instanceof Where
                || op instanceof Cast) {
            return elementwise(op, splats, type);
        }
        boolean keeps = op instanceof Reshape
                || op instanceof Transpose
                || op instanceof Slice
                || op instanceof Expand
                || op instanceof Concat;
        boolean equal = splats.stream()
                .allMatch(splat -> splat.element() == splats.getFirst().element());
        return keeps && equal ? new ConstantData.Splat(type, splats.getFirst().element()) : null;
    }

    private static @Nullable ConstantData elementwise(Primitive op, List<ConstantData.Splat> splats, TensorType type) {
        List<NdArray> scalars = splats.stream()
                .map(splat -> NdArray.of(
                        new ConstantData.Splat(new TensorType(splat.type().dtype(), Shape.scalar()), splat.element())))
                .toList();
        try {
            // one element is stored dense; its bits are the splat's
            NdArray result = op.evaluate(scalars).getFirst();
            return result.toConstant() instanceof ConstantData.Dense dense
                    ? new ConstantData.Splat(type, dev.tenon.core.ir.Elements.bits(type.dtype(), dense.segment(), 0))
                    : null;
        } catch (DataException e) {
            return null;
        }
    }
}
