package dev.tenon.core.ir.op.quantisation;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Expect;
import java.util.List;

/**
 * x as u8 with the scale and zero point that its own range (0 included) asks for. [x f32] -> [y u8, scale f32 scalar,
 * zero point u8 scalar]. ONNX DynamicQuantizeLinear-11.
 *
 * <p>{@code scale = (max - min) / 255, zero point = saturate(round(-min / scale)), y = saturate(round(x / scale) + zero
 * point)}, with max at least and min at most 0, in f32 arithmetic and rounding half to even. Where all is 0, or there
 * is nothing, the scale is 1.
 */
public record DynamicQuantize() implements Primitive {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Expect.same(mnemonic(), "x", inputs.getFirst(), DType.F32);
        return List.of(DType.U8, DType.F32, DType.U8);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(inputs.getFirst(), Shape.scalar(), Shape.scalar());
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        List<NdArray> results = Expect.results(this, inputs);
        NdArray x = inputs.getFirst();
        double min = 0;
        double max = 0;
        for (int i = 0; i < x.size(); i++) {
            min = Math.min(min, x.get(i));
            max = Math.max(max, x.get(i));
        }
        double range = (float) (max - min);
        double scale = range == 0 ? 1 : (float) (range / 255);
        double zero = Math.rint(Scaling.quotient(-min, scale, DType.F32));
        results.get(1).set(0, scale);
        // an integer array saturates what it is given
        results.get(2).set(0, zero);
        for (int i = 0; i < x.size(); i++) {
            double nearest = Math.rint(Scaling.quotient(x.get(i), scale, DType.F32));
            results.getFirst().set(i, nearest + results.get(2).get(0));
        }
        return results;
    }
}
