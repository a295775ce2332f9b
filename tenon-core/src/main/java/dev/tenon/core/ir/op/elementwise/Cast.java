package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Converts numbers.
 *
 * <p>[x] → [y], of x's shape and type {@code to}; any type to any other. Float to integer truncates and saturates, NaN
 * is 0 (as Java, JLS 5.1.3, but saturating to narrow types too); integer to narrower integer wraps; to a float rounds
 * to nearest even; to bool is whether it is not 0, NaN being true. {@code saturate} matters to f8 alone: whether what
 * overflows, infinity too, becomes its largest number, or else NaN (f8e4m3) and infinity (f8e5m2). ONNX Cast-19.
 */
public record Cast(DType to, boolean saturate) implements Elementwise {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(to);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return inputs;
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        for (int i = 0; i < y.size(); i++) {
            if (to.isFloat()) {
                y.set(i, rounded(x.get(i)));
            } else if (x.dtype().isFloat()) {
                y.set(i, x.get(i));
            } else {
                y.set(i, x.getLong(i));
            }
        }
        return List.of(y);
    }

    /** The number of type {@code to}, a float type, that a number becomes. */
    private double rounded(double value) {
        double largest = to == DType.F8E4M3 ? 448 : to == DType.F8E5M2 ? 57344 : Double.POSITIVE_INFINITY;
        if (saturate && Math.abs(value) > largest) {
            return Math.copySign(largest, value);
        }
        return Elements.toDouble(to, Elements.fromDouble(to, value));
    }

    /** The value as that type; the value itself where it has it already. */
    public static Value to(OpBuilder g, Value x, DType dtype) {
        return x.dtype() == dtype ? x : g.add(new Cast(dtype, true), x);
    }
}
