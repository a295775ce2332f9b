package dev.tenon.core.ir.op.movement;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;

/**
 * Broadcasts to sizes given as a value, both ways: a 1 keeps the input's own size. [x, sizes i64] → [y], of x's type.
 * ONNX Expand-13.
 */
public record ExpandTo() implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "sizes", inputs.get(1));
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape wanted = Rules.rankFrom(mnemonic(), "sizes", inputs.get(1));
        return List.of(
                wanted.isRanked()
                        ? Shape.unknown(
                                Math.max(wanted.rank(), inputs.getFirst().rank()))
                        : wanted);
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Shape wanted = Shape.of(known.longs(1));
        Shape y = Rules.broadcast(mnemonic(), List.of(inputs.getFirst().shape(), wanted));
        return List.of(g.add(Expand.to(y.sizes()), inputs.getFirst()));
    }
}
