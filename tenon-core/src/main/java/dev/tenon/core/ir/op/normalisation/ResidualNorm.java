package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;

/**
 * A sum and its norm over the axes from {@code axis} on, which is what stands between two blocks of a transformer.
 *
 * <p>[x, residual like x, scale, bias?] → [norm, x + residual where {@code sum}], all of one float type. A
 * {@link RmsNorm}, or a {@link LayerNorm} where {@code centred}, which alone has a bias; scale and bias as there. A sum
 * of a short type is rounded for itself, not for the norm.
 */
public record ResidualNorm(boolean centred, boolean sum, int axis, double epsilon) implements Claimable {
    public ResidualNorm {
        Rules.fromFront("residual_norm", axis);
        Normalisation.epsilon("residual_norm", epsilon);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(centred ? 4 : 3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = Rules.sameFloat(mnemonic(), inputs);
        return sum ? List.of(dtype, dtype) : List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape merged = Rules.merge(mnemonic(), "x", inputs.get(0), "residual", inputs.get(1));
        List<Shape> operands = new ArrayList<>(List.of(merged));
        operands.addAll(inputs.subList(2, inputs.size()));
        Normalisation.shape(mnemonic(), axis, operands);
        return sum ? List.of(merged, merged) : List.of(merged);
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        DType dtype = inputs.getFirst().dtype();
        List<Value> wide = inputs.stream()
                .map(input -> Cast.to(g, input, dtype.accumulator()))
                .toList();
        Value added = g.add(new Binary(BinaryFn.ADD), wide.get(0), wide.get(1));
        Value norm = centred
                ? g.add(new LayerNorm(axis, epsilon, true, true), added, wide.get(2), wide.get(3))
                : g.add(new RmsNorm(axis, epsilon, true), added, wide.get(2));
        return sum ? List.of(Cast.to(g, norm, dtype), Cast.to(g, added, dtype)) : List.of(Cast.to(g, norm, dtype));
    }
}
