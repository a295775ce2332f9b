package dev.tenon.core.ir.op.reduction;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;

/**
 * {@link TopK} with k given as a value of one element. [x, k i64] → [values, indices]. The axis counts from either end.
 * ONNX TopK-11.
 */
public record TopKBy(int axis, boolean largest, boolean sorted) implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "k", inputs.get(1));
        return List.of(Rules.sameNumeric(mnemonic(), inputs.subList(0, 1)), DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.single(mnemonic(), "k", inputs.get(1));
        Shape y = x.with(Rules.axisOfEither(mnemonic(), axis, x.rank()), Dim.unknown());
        return List.of(y, y);
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        int along =
                Rules.axisOfEither(mnemonic(), axis, inputs.getFirst().shape().rank());
        return g.addAll(new TopK(known.single(1), along, largest, sorted), inputs.subList(0, 1));
    }
}
