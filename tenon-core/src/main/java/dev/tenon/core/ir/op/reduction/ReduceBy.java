package dev.tenon.core.ir.op.reduction;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * {@link Reduce} over axes given as a value, from either end. No axes mean all of them, or with
 * {@code noopWithEmptyAxes} none: then each element is reduced by itself.
 *
 * <p>[x, axes i64] → [y], of the type that Reduce has. ONNX ReduceSum-13.
 */
public record ReduceBy(ReduceFn fn, boolean keepDims, boolean noopWithEmptyAxes) implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "axes", inputs.get(1));
        return new Reduce(fn, List.of(), keepDims).dtypes(inputs.subList(0, 1));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Dim count = Rules.vector(mnemonic(), "axes", inputs.get(1));
        if (count.isFixed()) {
            Rules.rankAtLeast(mnemonic(), "x", x, Rules.axes(mnemonic(), "axes", count));
        }
        if (count.is(0)) {
            return reduce(new long[0], x.rank()).shapes(List.of(x));
        }
        if (keepDims) {
            return List.of(Shape.unknown(x.rank()));
        }
        return List.of(
                count.isFixed()
                        ? Shape.unknown(x.rank() - SizeMath.toInt("reduce_by", count.size()))
                        : Shape.unranked());
    }

    private Reduce reduce(long[] axes, int rank) {
        boolean all = axes.length == 0 && !noopWithEmptyAxes;
        return new Reduce(
                fn,
                all ? IntStream.range(0, rank).boxed().toList() : Rules.distinctAxes(mnemonic(), axes, rank),
                keepDims);
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Value x = inputs.getFirst();
        return List.of(g.add(reduce(known.longs(1), x.shape().rank()), x));
    }
}
