package dev.tenon.core.ir.op.movement;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Keeps the upper (or lower) triangle of the last two dims, zeros elsewhere: upper where column - row ≥ diagonal, lower
 * where it is ≤.
 *
 * <p>[x [...,M,N]] → [y], of x's type. ONNX Trilu-14.
 */
public record Trilu(boolean upper, long diagonal) implements Primitive {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return inputs;
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.rankAtLeast(mnemonic(), "x", inputs.getFirst(), 2);
        return inputs;
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        int rank = x.shape().rank();
        long columns = x.shape().size(rank - 1);
        long rows = x.shape().size(rank - 2);
        for (int i = 0; i < x.size(); i++) {
            long above = i % columns - i / columns % rows;
            if (upper ? above >= diagonal : above <= diagonal) {
                y.copy(i, x, i);
            }
        }
        return List.of(y);
    }
}
