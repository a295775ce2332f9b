package dev.tenon.core.ir.op.quantisation;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Expect;
import java.util.List;

/**
 * What is left of numbers once they have been quantised: {@link Quantize} to a type, then {@link Dequantize}. [x float,
 * scale, zero point? of that type] → [y like x]. Scales lie over x as there: one, one a channel, or blocked.
 */
public record FakeQuantize(DType through, int axis, long block, boolean zeroPoint) implements Composite {
    public FakeQuantize {
        new Quantize(through, axis, block, zeroPoint);
    }

    private Quantize quantize() {
        return new Quantize(through, axis, block, zeroPoint);
    }

    @Override
    public Arity arity() {
        return quantize().arity();
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Expect.floating(mnemonic(), "x", inputs.getFirst());
        quantize().dtypes(inputs);
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return quantize().shapes(inputs);
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value stored = g.addAll(quantize(), inputs).getFirst();
        return zeroPoint
                ? List.of(g.add(new Dequantize(axis, block, true), stored, inputs.get(1), inputs.get(2)))
                : List.of(g.add(new Dequantize(axis, block, false), stored, inputs.get(1)));
    }
}
