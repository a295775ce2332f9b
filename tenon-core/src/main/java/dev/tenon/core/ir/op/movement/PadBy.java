package dev.tenon.core.ir.op.movement;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * {@link Pad} with amounts given as a value: all before, then all after, an amount for each axis or for each of
 * {@code axes}.
 *
 * <p>[x, pads i64, fill? of x's type, axes? i32 or i64] → [y], of x's type and rank. ONNX Pad-21.
 */
public record PadBy(PadMode mode, boolean fill, boolean axes) implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(2 + (fill ? 1 : 0) + (axes ? 1 : 0));
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "pads", inputs.get(1));
        if (axes) {
            Rules.counts(mnemonic(), "axes", inputs.getLast());
        }
        return List.of(fill ? Rules.same(mnemonic(), List.of(inputs.get(0), inputs.get(2))) : inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.vector(mnemonic(), "pads", inputs.get(1));
        if (fill) {
            Rules.single(mnemonic(), "fill", inputs.get(2));
        }
        return List.of(Shape.unknown(inputs.getFirst().rank()));
    }

    @Override
    public Set<Integer> neededValues() {
        return axes ? Set.of(1, arity().min() - 1) : Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        int rank = inputs.getFirst().shape().rank();
        long[] pads = known.longs(1);
        long[] named = axes
                ? known.longs(inputs.size() - 1)
                : IntStream.range(0, rank).asLongStream().toArray();
        Rules.distinctAxes(mnemonic(), named, rank);
        if (pads.length != 2 * named.length) {
            throw new ShapeException(mnemonic() + ": " + pads.length + " amounts " + Arrays.toString(pads) + " for "
                    + named.length + " axes; expected " + 2 * named.length);
        }
        List<Long> before = new ArrayList<>(Collections.nCopies(rank, 0L));
        List<Long> after = new ArrayList<>(Collections.nCopies(rank, 0L));
        for (int i = 0; i < named.length; i++) {
            int axis = Rules.axisOfEither(mnemonic(), named[i], rank);
            before.set(axis, pads[i]);
            after.set(axis, pads[named.length + i]);
        }
        return List.of(Pad.cropped(g, mode, inputs.getFirst(), before, after, fill ? inputs.get(2) : null));
    }
}
