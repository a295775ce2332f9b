package dev.tenon.core.ir.op.indexing;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * data's slices along an axis, in the order of the indices; negative ones count from the end.
 *
 * <p>[data, indices i32 or i64] → [y] of data's type: data.shape[:axis] + indices.shape + data.shape[axis+1:]. An index
 * out of [-n, n) is a {@link dev.tenon.core.error.DataException}. ONNX Gather-13.
 */
public record Gather(int axis) implements Primitive {
    public Gather {
        Rules.fromFront("gather", axis);
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
        Shape data = inputs.getFirst();
        Rules.axis(mnemonic(), axis, data);
        return List.of(data.range(0, axis).concat(inputs.get(1)).concat(data.range(axis + 1, data.rank())));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray data = inputs.get(0);
        NdArray indices = inputs.get(1);
        NdArray y = Rules.result(this, inputs);
        int size = SizeMath.toInt("gather", data.shape().size(axis));
        int inner = SizeMath.toInt(
                "gather", data.shape().elements(axis + 1, data.shape().rank()));
        int[] rows = new int[indices.size()];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = Indexing.wrap(mnemonic(), indices.getLong(i), size, axis);
        }
        for (int i = 0; i < y.size(); i++) {
            int row = rows[i / inner % rows.length];
            int outer = i / inner / rows.length;
            y.copy(i, data, (outer * size + row) * inner + i % inner);
        }
        return List.of(y);
    }
}
