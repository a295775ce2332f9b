package dev.tenon.core.ir.op.signal;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;

/**
 * {@link Dft} with a length given as a value or taken from x: its size along the axis, for the inverse of a one-sided
 * one {@code 2 (n - 1)}. [x, axis i64, length? i64, each one element] → [y]. The axis counts from either end. ONNX
 * DFT-20.
 */
public record DftBy(boolean inverse, boolean onesided, boolean length) implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(length ? 3 : 2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "axis", inputs.get(1));
        if (length) {
            Rules.counts(mnemonic(), "length", inputs.get(2));
        }
        return List.of(Rules.sameFloat(mnemonic(), inputs.subList(0, 1)));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Dft.checkParts(mnemonic(), x, 0);
        Rules.single(mnemonic(), "axis", inputs.get(1));
        if (length) {
            Rules.single(mnemonic(), "length", inputs.get(2));
        }
        return List.of(Shape.unknown(x.rank()).with(x.rank() - 1, Dim.of(onesided && inverse ? 1 : 2)));
    }

    @Override
    public Set<Integer> neededValues() {
        return length ? Set.of(1, 2) : Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Shape x = inputs.getFirst().shape();
        int along = Rules.axisOfEither(mnemonic(), known.single(1), x.rank());
        long natural = onesided && inverse ? SizeMath.product(mnemonic(), 2, x.size(along) - 1) : x.size(along);
        return g.addAll(new Dft(along, length ? known.single(2) : natural, inverse, onesided), inputs.subList(0, 1));
    }
}
