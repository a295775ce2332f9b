package dev.tenon.core.ir.op.quantisation;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * saturate(round_half_even(x / scale) + zero point). [x, scale (scalar, one an index of {@code axis}, or blocked), zero
 * point?]. ONNX QuantizeLinear-21.
 *
 * <p>x is a float of the scale's type, or i32; {@code to} an integer of at most 16 bits or an f8 type, which the zero
 * point has too. To an f8 type the quotient is not rounded to an integer first, and saturates at the largest finite
 * number; NaN stays. To an integer NaN becomes 0. The quotient itself is an f32 number (f64 for f64), so that every
 * backend agrees on which integer is nearest. {@code axis} counts from the front; {@code block} elements along it share
 * a scale, 0 for all.
 */
public record Quantize(DType to, int axis, long block, boolean zeroPoint) implements Primitive {
    private static final String NAME = "quantize";
    private static final Set<DType> TARGETS =
            EnumSet.of(DType.I4, DType.U4, DType.I8, DType.U8, DType.I16, DType.U16, DType.F8E4M3, DType.F8E5M2);

    public Quantize {
        DType target = to;
        Expect.dtype(TARGETS.contains(target), NAME, () -> "cannot quantise to " + target + "; expected " + TARGETS);
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
        DType scale = Expect.floating(NAME, "scale", inputs.get(1));
        Expect.dtype(
                x == scale || x == DType.I32, NAME, () -> "x is " + x + "; expected the scale's " + scale + ", or i32");
        if (zeroPoint) {
            Expect.same(NAME, "zero point", inputs.get(2), to);
        }
        return List.of(to);
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
        NdArray zero = zeroPoint ? inputs.get(2) : NdArray.zeros(to);
        int[] scaleAt = scaling().map(scale.shape(), x.shape());
        int[] zeroAt = scaling().map(zero.shape(), x.shape());
        double largest = largest();
        for (int i = 0; i < x.size(); i++) {
            double quotient = Scaling.quotient(x.get(i), scale.get(scaleAt[i]), scale.dtype());
            double value = (to.isFloat() ? quotient : Math.rint(quotient)) + zero.get(zeroAt[i]);
            double held = Double.isNaN(value) ? value : Math.clamp(value, to.isFloat() ? -largest : least(), largest);
            // a float result is stored as its type has it: rounding is what quantising means
            result.set(i, to.isFloat() ? Elements.toDouble(to, Elements.fromDouble(to, held)) : held);
        }
        return List.of(result);
    }

    private double least() {
        return (double) Elements.min(to);
    }

    private double largest() {
        return to == DType.F8E4M3 ? 448 : to == DType.F8E5M2 ? 57344 : (double) Elements.max(to);
    }
}
