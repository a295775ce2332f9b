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
import java.util.stream.LongStream;

/**
 * {@link Tile} with repeats given as a value, one an axis. [x, repeats i64] → [y], of x's type and rank. ONNX Tile-13.
 */
public record TileBy() implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "repeats", inputs.get(1));
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        if (!Rules.vector(mnemonic(), "repeats", inputs.get(1)).mayEqual(Dim.of(x.rank()))) {
            throw new ShapeException(
                    mnemonic() + ": repeats " + inputs.get(1) + " for x " + x + "; expected [" + x.rank() + "]");
        }
        return List.of(Shape.unknown(x.rank()));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        return List.of(g.add(new Tile(LongStream.of(known.longs(1)).boxed().toList()), inputs.getFirst()));
    }
}
