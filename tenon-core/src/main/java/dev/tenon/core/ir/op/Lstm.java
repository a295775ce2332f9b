package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** ONNX LSTM-22, gates in the order i o f c. [x [T,B,I], w [D,4H,I], r [D,4H,H], bias? [D,8H], lengths? [B] i32, h0? [D,B,H], c0? [D,B,H], peepholes? [D,3H]] -> [y [T,D,B,H], h [D,B,H], c [D,B,H]]; batchFirst is layout 1. */
public record Lstm(
        RnnDirection direction,
        long hidden,
        List<RnnActivation> activations,
        double clip,
        boolean inputForget,
        boolean batchFirst,
        boolean bias,
        boolean lengths,
        boolean initialHidden,
        boolean initialCell,
        boolean peephole)
        implements Primitive {
    @Override
    public Arity arity() {
        return new Arity(3, 8);
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
