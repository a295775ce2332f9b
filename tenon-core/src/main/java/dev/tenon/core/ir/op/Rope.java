package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;

/** Rotary position embedding of the last dim: pairs (i, i + r/2), or (2i, 2i+1) when interleaved, of the first {@code rotaryDim} (0: all) elements are turned by the angles whose cosines and sines are given; the rest passes. [x [...,L,D], cos, sin, both broadcast to [...,L,r/2]]. */
public record Rope(boolean interleaved, long rotaryDim) implements Primitive {
    @Override
    public Arity arity() {
        return Arity.exactly(3);
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
