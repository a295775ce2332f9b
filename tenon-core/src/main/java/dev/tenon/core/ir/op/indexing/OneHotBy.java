package dev.tenon.core.ir.op.indexing;

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
 * {@link OneHot} with the depth given as a value of one element. [indices, depth i32 or i64, values [2]] → [y]. The
 * axis counts from either end of the result. ONNX OneHot-11.
 */
public record OneHotBy(int axis) implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.indices(mnemonic(), inputs.getFirst());
        Rules.counts(mnemonic(), "depth", inputs.get(1));
        return List.of(inputs.get(2));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.single(mnemonic(), "depth", inputs.get(1));
        return List.of(
                OneHot.shape(mnemonic(), inputs.getFirst(), inputs.get(2), along(inputs.getFirst()), Dim.unknown()));
    }

    private int along(Shape indices) {
        return Rules.axisOfEither(mnemonic(), axis, indices.rank() + 1);
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        OneHot oneHot = new OneHot(known.single(1), along(inputs.getFirst().shape()));
        return List.of(g.add(oneHot, inputs.get(0), inputs.get(2)));
    }
}
