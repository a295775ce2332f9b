package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Selects element by element, with numpy broadcasting: a where the condition holds, else b. What is not selected has no
 * effect, NaN or not.
 *
 * <p>[bool condition, a, b] → [y], of the broadcast shape of all three and the type that a and b have.
 */
public record Where() implements Elementwise {
    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.require(mnemonic(), "condition", inputs.getFirst(), type -> type == DType.BOOL, "bool");
        return List.of(Rules.same(mnemonic(), inputs.subList(1, 3)));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(Rules.broadcast(mnemonic(), inputs));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray y = Rules.result(this, inputs);
        int[] atCondition = Indexing.broadcast(inputs.get(0).shape(), y.shape());
        int[] atA = Indexing.broadcast(inputs.get(1).shape(), y.shape());
        int[] atB = Indexing.broadcast(inputs.get(2).shape(), y.shape());
        for (int i = 0; i < y.size(); i++) {
            if (inputs.get(0).getLong(atCondition[i]) != 0) {
                y.copy(i, inputs.get(1), atA[i]);
            } else {
                y.copy(i, inputs.get(2), atB[i]);
            }
        }
        return List.of(y);
    }
}
