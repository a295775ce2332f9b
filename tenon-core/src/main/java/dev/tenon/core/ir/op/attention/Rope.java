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
 * and Llama, interleaved pairs GPT-J's. The result has x's type and shape. cos and sin have x's type, or where x is
 * shorter than f32 both f32. Where {@code rows} is not 0, only the first so many indices of x's second last dim are
 * turned, and cos and sin are broadcast to those alone: queries and keys of one operand [B,L,heads,D], whose other
 * heads are values. Su et al., RoFormer; ONNX RotaryEmbedding-23.
 *
 * @param rotaryDim how many elements are turned, an even number; 0 for all
 * @param rows how many indices of the second last dim are turned; 0 for all
 */
public record Rope(boolean interleaved, long rotaryDim, long rows) implements Primitive {
    private static final String NAME = "rope";

    public Rope {
        long turned = rotaryDim;
        long indices = rows;
        Expect.shape(
                turned >= 0 && turned % 2 == 0,
                NAME,
                () -> "the number of turned elements needs to be even, 0 for all: " + turned);
        Expect.shape(indices >= 0, NAME, () -> "the number of turned rows needs to be 0 (all) or more: " + indices);
    }

    /** Of all rows. */
    public Rope(boolean interleaved, long rotaryDim) {
        this(interleaved, rotaryDim, 0);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = Expect.floating(NAME, "x", inputs.getFirst());
        DType angles = inputs.get(1) == DType.F32 ? dtype.accumulator() : dtype;
        Expect.same(NAME, "cos", inputs.get(1), angles);
        Expect.same(NAME, "sin", inputs.get(2), angles);
        return List.of(dtype);
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
        if (rows > 0) {
            Dim all = x.rank() >= 2 ? x.dim(x.rank() - 2) : Dim.of(0);
            Expect.shape(
                    !all.isFixed() || all.size() >= rows,
                    NAME,
                    () -> "the second last dim of x " + x + " does not hold " + rows + " rows to turn");
        }
        Shape angles = angles(x);
        Rules.broadcastsTo(NAME, "cos", inputs.get(1), angles);
        Rules.broadcastsTo(NAME, "sin", inputs.get(2), angles);
        return List.of(x);
    }

    /** The shape of the angles of an x, to which cosines and sines are broadcast. */
    public Shape angles(Shape x) {
        Dim last = x.dim(x.rank() - 1);
        Dim pairs = rotaryDim > 0 ? Dim.of(rotaryDim / 2) : last.isFixed() ? Dim.of(last.size() / 2) : Dim.unknown();
        Shape all = x.with(x.rank() - 1, pairs);
        return rows > 0 ? all.with(x.rank() - 2, Dim.of(rows)) : all;
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray result = Rules.result(this, inputs);
        NdArray x = inputs.get(0);
        Shape shape = x.shape();
        int size = SizeMath.toInt(NAME, shape.size(shape.rank() - 1));
        int pairs = (int) (rotaryDim == 0 ? size : rotaryDim) / 2;
        int[] cosAt = Indexing.broadcast(inputs.get(1).shape(), angles(shape));
        int[] sinAt = Indexing.broadcast(inputs.get(2).shape(), angles(shape));
        for (int i = 0; i < x.size(); i++) {
            result.copy(i, x, i);
        }
        for (int angle = 0; angle < cosAt.length; angle++) {
            int pair = angle % pairs;
            int start = row(shape, angle / pairs) * size;
            int a = start + (interleaved ? 2 * pair : pair);
            int b = interleaved ? a + 1 : a + pairs;
            double cos = inputs.get(1).get(cosAt[angle]);
            double sin = inputs.get(2).get(sinAt[angle]);
            result.set(a, x.get(a) * cos - x.get(b) * sin);
            result.set(b, x.get(a) * sin + x.get(b) * cos);
        }
        return List.of(result);
    }

    /** The row of an x that is turned at a place among those that are. */
    private int row(Shape x, int turned) {
        if (rows == 0) {
            return turned;
        }
        int of = SizeMath.toInt(NAME, rows);
        int all = SizeMath.toInt(NAME, x.size(x.rank() - 2));
        return turned / of * all + turned % of;
    }
}
