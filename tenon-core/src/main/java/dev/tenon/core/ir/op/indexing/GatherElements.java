package dev.tenon.core.ir.op.indexing;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * out[i,j,k] = data[i, indices[i,j,k], k] for axis 1; negative indices count from the end.
 *
 * <p>[data, indices i32 or i64, of the same rank and, but along the axis, no larger] → [y], of the indices' shape and
 * data's type. An index out of range is a {@link dev.tenon.core.error.DataException}. ONNX GatherElements-13.
 */
public record GatherElements(int axis) implements Primitive {
    public GatherElements {
        Rules.fromFront("gather_elements", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.indices(mnemonic(), inputs.get(1));
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.axis(mnemonic(), axis, inputs.getFirst());
        Scattering.elementsFit(mnemonic(), axis, inputs.getFirst(), inputs.get(1));
        return List.of(inputs.get(1));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray y = Rules.result(this, inputs);
        int[] from = Scattering.elementOffsets(mnemonic(), axis, inputs.get(0).shape(), inputs.get(1));
        for (int i = 0; i < from.length; i++) {
            y.copy(i, inputs.get(0), from[i]);
        }
        return List.of(y);
    }
}
