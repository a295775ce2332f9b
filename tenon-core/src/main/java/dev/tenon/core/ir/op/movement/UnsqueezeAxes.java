package dev.tenon.core.ir.op.movement;

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
 * Inserts axes of size 1 at those positions of the result, from either end. [x, axes i64] → [y], of x's type. ONNX
 * Unsqueeze-13.
 */
public record UnsqueezeAxes() implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "axes", inputs.get(1));
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Dim count = Rules.vector(mnemonic(), "axes", inputs.get(1));
        return List.of(
                count.isFixed()
                        ? Shape.unknown(inputs.getFirst().rank() + Rules.axes(mnemonic(), "axes", count))
                        : Shape.unranked());
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Shape x = inputs.getFirst().shape();
        long[] axes = known.longs(1);
        long[] sizes = new long[x.rank() + axes.length];
        List<Integer> added = Rules.distinctAxes(mnemonic(), axes, sizes.length);
        int from = 0;
        for (int axis = 0; axis < sizes.length; axis++) {
            sizes[axis] = added.contains(axis) ? 1 : x.size(from++);
        }
        return List.of(g.add(Reshape.to(sizes), inputs.getFirst()));
    }
}
