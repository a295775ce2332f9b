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
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * {@link Split} into sizes given as a value; how many results there are is the node's own business. [x, sizes i64
 * [results]] → one result a size, of x's type. The axis counts from either end. ONNX Split-18.
 */
public record SplitBy(int axis, int results) implements Deferred {
    public SplitBy {
        if (results < 1) {
            throw new ShapeException("split_by: has " + results + " results; expected 1 or more");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "sizes", inputs.get(1));
        return Collections.nCopies(results, inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        int along = Rules.axisOfEither(mnemonic(), axis, x.rank());
        if (!Rules.vector(mnemonic(), "sizes", inputs.get(1)).mayEqual(Dim.of(results))) {
            throw new ShapeException(mnemonic() + ": sizes " + inputs.get(1) + " for " + results
                    + " results; expected [" + results + "]");
        }
        return Collections.nCopies(results, x.with(along, Dim.unknown()));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        int along =
                Rules.axisOfEither(mnemonic(), axis, inputs.getFirst().shape().rank());
        Split split = new Split(along, LongStream.of(known.longs(1)).boxed().toList());
        return g.addAll(split, inputs.subList(0, 1));
    }
}
