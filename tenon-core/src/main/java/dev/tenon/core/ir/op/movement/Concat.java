package dev.tenon.core.ir.op.movement;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * The inputs one after another along an axis.
 *
 * <p>[x...] → [y], of their one type; all have one rank and equal dims but along the axis, where the sizes add up. An
 * empty input adds nothing, but its other dims must fit as well. ONNX Concat-13.
 */
public record Concat(int axis) implements Primitive {
    public Concat {
        Rules.fromFront("concat", axis);
    }

    @Override
    public Arity arity() {
        return Arity.atLeast(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.same(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape all = inputs.getFirst();
        Rules.axis(mnemonic(), axis, all);
        for (int i = 1; i < inputs.size(); i++) {
            Shape next = inputs.get(i);
            Rules.rank(mnemonic(), "input " + i, next, all.rank());
            Dim sum = all.dim(axis).plus(next.dim(axis));
            all = Rules.merge(mnemonic(), "inputs so far", all.with(axis, sum), "input " + i, next.with(axis, sum));
        }
        return List.of(all);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray y = Rules.result(this, inputs);
        int inner =
                SizeMath.toInt("concat", y.shape().elements(axis + 1, y.shape().rank()));
        int block = SizeMath.toInt("concat", y.shape().size(axis)) * inner;
        int start = 0;
        for (NdArray x : inputs) {
            int own = SizeMath.toInt("concat", x.shape().size(axis)) * inner;
            for (int i = 0; i < x.size(); i++) {
                y.copy(i / own * block + start + i % own, x, i);
            }
            start += own;
        }
        return List.of(y);
    }
}
