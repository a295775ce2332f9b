package dev.tenon.core.ir.op.attention;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Rotary position embedding of the last dim: pairs (i, i + r/2), or (2i, 2i+1) when interleaved, of the first
 * {@code rotaryDim} (0: all) elements are turned by the angles whose cosines and sines are given; the rest passes. [x
 * [...,L,D], cos, sin, both broadcast to [...,L,r/2]].
 *
 * <p>{@code y_a = x_a cos - x_b sin, y_b = x_a sin + x_b cos} of a pair (a, b). Halves are the convention of GPT-NeoX
 * and Llama, interleaved pairs GPT-J's. One float type throughout; the result has x's shape. Su et al., RoFormer; ONNX
 * RotaryEmbedding-23.
 */
public record Rope(boolean interleaved, long rotaryDim) implements Primitive {
    private static final String NAME = "rope";

    public Rope {
        long turned = rotaryDim;
        Expect.shape(
                turned >= 0 && turned % 2 == 0,
                NAME,
                () -> "the number of turned elements needs to be even, 0 for all: " + turned);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(NAME, inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.get(0);
        Expect.shape(x.rank() >= 1, NAME, () -> "x is a scalar; expected rank 1 or more");
        Dim last = x.dim(x.rank() - 1);
        Expect.shape(
                !last.isFixed() || (last.size() >= rotaryDim && (rotaryDim > 0 || last.size() % 2 == 0)),
                NAME,
                () -> "the last dim of x " + x + " does not hold pairs of " + (rotaryDim == 0 ? "all" : rotaryDim)
                        + " elements");
        Dim pairs = rotaryDim > 0 ? Dim.of(rotaryDim / 2) : last.isFixed() ? Dim.of(last.size() / 2) : Dim.unknown();
        Shape angles = x.with(x.rank() - 1, pairs);
        Rules.broadcastsTo(NAME, "cos", inputs.get(1), angles);
        Rules.broadcastsTo(NAME, "sin", inputs.get(2), angles);
        return List.of(x);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray result = Rules.result(this, inputs);
        NdArray x = inputs.get(0);
        Shape shape = x.shape();
        int size = SizeMath.toInt(NAME, shape.size(shape.rank() - 1));
        int pairs = (int) (rotaryDim == 0 ? size : rotaryDim) / 2;
        Shape angles = shape.with(shape.rank() - 1, Dim.of(pairs));
        int[] cosAt = Indexing.broadcast(inputs.get(1).shape(), angles);
        int[] sinAt = Indexing.broadcast(inputs.get(2).shape(), angles);
        for (int i = 0; i < x.size(); i++) {
            result.copy(i, x, i);
        }
        for (int angle = 0; angle < cosAt.length; angle++) {
            int pair = angle % pairs;
            int start = angle / pairs * size;
            int a = start + (interleaved ? 2 * pair : pair);
            int b = interleaved ? a + 1 : a + pairs;
            double cos = inputs.get(1).get(cosAt[angle]);
            double sin = inputs.get(2).get(sinAt[angle]);
            result.set(a, x.get(a) * cos - x.get(b) * sin);
            result.set(b, x.get(a) * sin + x.get(b) * cos);
        }
        return List.of(result);
    }
}
