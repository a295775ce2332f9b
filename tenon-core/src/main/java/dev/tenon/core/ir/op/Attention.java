package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** softmax(scale * q k^T, capped, masked) v. [q [B,Hq,Lq,D], k [B,Hkv,Lk,D], v [B,Hkv,Lk,Dv], mask? broadcast to [B,Hq,Lq,Lk], bool (true = may look) or additive]. Hq is a multiple of Hkv: query head h reads key head h / (Hq/Hkv). Causal: query i sees keys j <= i + Lk - Lq; {@code window} > 0: and j > i + Lk - Lq - window. {@code scale} NaN means 1/sqrt(D); {@code softCap} > 0: cap * tanh(s / cap). A row that sees no key is 0. */
public record Attention(boolean causal, long window, AttentionMask mask, double scale, double softCap)
        implements Primitive {
    @Override
    public Arity arity() {
        return new Arity(3, 4);
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
