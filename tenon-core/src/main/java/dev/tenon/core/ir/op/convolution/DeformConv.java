package dev.tenon.core.ir.op.convolution;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.normalisation.Normalisation;
import dev.tenon.core.ir.reference.Windows;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;

/**
 * Convolution in two dims whose cells are moved by offsets that are computed too, and scaled by a mask.
 *
 * <p>[x [B,C,H,W], w [O,C/groups,KH,KW], offsets [B,offset groups KH KW 2,OH,OW], bias? [O], mask? [B,offset groups KH
 * KW,OH,OW]] → [y [B,O,OH,OW]], all of one float type: {@link DeformColumns}, rounded to it, then a matrix product.
 * ONNX DeformConv-19; <a href="https://arxiv.org/abs/1811.11168">Deformable ConvNets v2</a>, 2018.
 */
public record DeformConv(
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        long groups,
        long offsetGroups,
        boolean bias,
        boolean mask)
        implements Composite {
    private static final String NAME = "deform_conv";

    public DeformConv {
        strides = List.copyOf(strides);
        padsBefore = List.copyOf(padsBefore);
        padsAfter = List.copyOf(padsAfter);
        dilations = List.copyOf(dilations);
        Windows.check(NAME, strides, padsBefore, padsAfter, dilations);
        long count = groups;
        long moved = offsetGroups;
        Expect.shape(
                count >= 1 && moved >= 1,
                NAME,
                () -> "groups and offset groups need to be 1 or more: " + count + ", " + moved);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(3 + (bias ? 1 : 0) + (mask ? 1 : 0));
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(NAME, inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.get(0);
        Shape w = inputs.get(1);
        Windows windows = Conv.windows(NAME, w, strides, padsBefore, padsAfter, dilations);
        Shape result = Conv.shape(windows, groups, x, w);
        if (bias) {
            Rules.perChannel(NAME, "bias", inputs.get(3), result);
        }
        if (!w.range(2, 4).isConcrete()) {
            return List.of(result);
        }
        List<Dim> places = columns(w).positions(sampled(inputs));
        return List.of(Shape.of(result.dim(0), result.dim(1), places.get(0), places.get(1)));
    }

    private DeformColumns columns(Shape w) {
        return new DeformColumns(
                List.of(w.size(2), w.size(3)), strides, padsBefore, padsAfter, dilations, offsetGroups, mask);
    }

    /** The operands of the columns among all. */
    private <T> List<T> sampled(List<T> inputs) {
        List<T> some = new ArrayList<>(List.of(inputs.get(0), inputs.get(2)));
        if (mask) {
            some.add(inputs.getLast());
        }
        return some;
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Shape w = inputs.get(1).shape();
        Shape y = shapes(inputs.stream().map(Value::shape).toList()).getFirst();
        long rows = w.elements(1, 4);
        Value columns = g.add(
                Reshape.to(y.size(0), groups, rows, y.elements(2, 4)),
                g.addAll(columns(w), sampled(inputs)).getFirst());
        Value weights = g.add(Reshape.to(1, groups, w.size(0) / groups, rows), inputs.get(1));
        Value product = g.add(Reshape.to(y.sizes()), g.add(MatMul.plain(), weights, columns));
        return List.of(
                bias
                        ? g.add(new Binary(BinaryFn.ADD), product, Normalisation.perChannel(g, inputs.get(3), 4))
                        : product);
    }
}
