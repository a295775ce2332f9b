package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** ONNX RNN-22. [x, w [D,H,I], r [D,H,H], bias? [D,2H], lengths?, h0?] -> [y, h]. */
public record Rnn(
        RnnDirection direction,
        long hidden,
        List<RnnActivation> activations,
        double clip,
        boolean batchFirst,
        boolean bias,
        boolean lengths,
        boolean initialHidden)
        implements Primitive {
    @Override
    public Arity arity() {
        return new Arity(3, 6);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        throw Unwritten.rule(this);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        throw Unwritten.rule(this);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        throw Unwritten.rule(this);
    }
}
