package dev.tenon.core.ir.op.quantisation;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * (x - zero point) * scale, in the scale's type. [x, scale, zero point?]. ONNX DequantizeLinear-21.
 *
 * <p>x is an integer of at most 32 bits or an f8 type, which the zero point has too; the scale is a float. Scales lie
 * over x as in {@link Quantize}.
 */
public record Dequantize(int axis, long block, boolean zeroPoint) implements Primitive {
    private static final String NAME = "dequantize";

    public Dequantize {
        new Scaling(NAME, axis, block).check();
    }

    private Scaling scaling() {
        return new Scaling(NAME, axis, block);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(zeroPoint ? 3 : 2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType x = inputs.get(0);
        Expect.dtype(
                (x.isInteger() && x.bits() <= 32) || x == DType.F8E4M3 || x == DType.F8E5M2,
                NAME,
                () -> "x is " + x + "; expected an integer of at most 32 bits or an f8 type");
        if (zeroPoint) {
            Expect.same(NAME, "zero point", inputs.get(2), x);
        }
        return List.of(Expect.floating(NAME, "scale", inputs.get(1)));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.get(0);
        scaling().check("scale", inputs.get(1), x);
        if (zeroPoint) {
            scaling().check("zero point", inputs.get(2), x);
        }
        return List.of(x);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray result = Rules.result(this, inputs);
        NdArray x = inputs.get(0);
        NdArray scale = inputs.get(1);
        NdArray zero = zeroPoint ? inputs.get(2) : NdArray.zeros(x.dtype());
        int[] scaleAt = scaling().map(scale.shape(), x.shape());
        int[] zeroAt = scaling().map(zero.shape(), x.shape());
        for (int i = 0; i < x.size(); i++) {
            result.set(i, (x.get(i) - zero.get(zeroAt[i])) * scale.get(scaleAt[i]));
        }
        return List.of(result);
    }
}
