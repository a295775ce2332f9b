package dev.tenon.core.ir.op.searching;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;

/**
 * The slices of an axis for which a condition holds.
 *
 * <p>[x, condition bool vector] → [y], of x's type. A condition shorter than the axis leaves the rest out; one that is
 * true past the axis is an error when it runs. ONNX Compress-11.
 */
public record Compress(int axis) implements Deferred {
    public Compress {
        Rules.fromFront("compress", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.require(mnemonic(), "condition", inputs.get(1), type -> type == DType.BOOL, "bool");
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.axis(mnemonic(), axis, inputs.getFirst());
        Rules.vector(mnemonic(), "condition", inputs.get(1));
        return List.of(inputs.getFirst().with(axis, Dim.unknown()));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of();
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Value condition = inputs.get(1);
        List<Value> all = g.addAll(new NonZeroIndices(), List.of(condition));
        Value indices = g.add(Reshape.to(condition.shape().size(0)), all.get(0));
        return List.of(g.add(new Gather(axis), inputs.getFirst(), g.add(new FirstOf(0), indices, all.get(1))));
    }
}
