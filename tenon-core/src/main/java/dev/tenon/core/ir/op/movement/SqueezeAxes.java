package dev.tenon.core.ir.op.movement;

import dev.tenon.core.error.ShapeException;
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
import java.util.stream.IntStream;

/**
 * Drops the axes given as a value (each of size 1), or all of size 1. [x, axes? i64] → [y], of x's type. The value of
 * input 1 is needed where there is one. ONNX Squeeze-13.
 */
public record SqueezeAxes() implements Deferred {
    @Override
    public Arity arity() {
        return new Arity(1, 2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        if (inputs.size() > 1) {
            Rules.counts(mnemonic(), "axes", inputs.get(1));
        }
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        if (inputs.size() == 1) {
            return List.of(
                    x.isConcrete()
                            ? Shape.of(
                                    x.dims().stream().filter(dim -> !dim.is(1)).toList())
                            : Shape.unranked());
        }
        Dim count = Rules.vector(mnemonic(), "axes", inputs.get(1));
        if (!count.isFixed()) {
            return List.of(Shape.unranked());
        }
        int dropped = Rules.axes(mnemonic(), "axes", count);
        Rules.rankAtLeast(mnemonic(), "x", x, dropped);
        return List.of(Shape.unknown(x.rank() - dropped));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Shape x = inputs.getFirst().shape();
        List<Integer> axes = inputs.size() > 1
                ? Rules.distinctAxes(mnemonic(), known.longs(1), x.rank())
                : IntStream.range(0, x.rank())
                        .filter(axis -> x.dim(axis).is(1))
                        .boxed()
                        .toList();
        for (int axis : axes) {
            if (!x.dim(axis).is(1)) {
                throw new ShapeException(mnemonic() + ": axis " + axis + " of " + x + " is not of size 1; expected 1");
            }
        }
        long[] kept = IntStream.range(0, x.rank())
                .filter(axis -> !axes.contains(axis))
                .mapToLong(x::size)
                .toArray();
        return List.of(g.add(Reshape.to(kept), inputs.getFirst()));
    }
}
