package dev.tenon.core.ir.op.convolution;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.reference.Windows;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;

/**
 * What a {@link DeformConv} multiplies its weights by: for each position of the kernel the cells it looks at, each
 * moved by an offset of its own, sampled bilinearly with zeros outside and scaled by a mask.
 *
 * <p>[x [B,C,H,W], offsets [B,groups KH KW 2,OH,OW] of (y, x), mask? [B,groups KH KW,OH,OW]] → [columns [B,C KH KW,OH
 * OW]] of their one float type. C is a multiple of the groups.
 */
public record DeformColumns(
        List<Long> kernel,
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        long groups,
        boolean mask)
        implements InUnits {
    private static final String NAME = "deform_columns";

    public DeformColumns {
        kernel = List.copyOf(kernel);
        strides = List.copyOf(strides);
        padsBefore = List.copyOf(padsBefore);
        padsAfter = List.copyOf(padsAfter);
        dilations = List.copyOf(dilations);
        Windows.check(NAME, strides, padsBefore, padsAfter, dilations);
        Windows.checkKernel(NAME, kernel, strides);
        int axes = kernel.size();
        long count = groups;
        Expect.shape(axes == 2, NAME, () -> "a kernel of " + axes + " dims; expected 2");
        Expect.shape(count >= 1, NAME, () -> "groups need to be 1 or more: " + count);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(mask ? 3 : 2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(NAME, inputs));
    }

    private long cells() {
        return SizeMath.product(NAME, kernel.get(0), kernel.get(1));
    }

    /** The result's positions, after a check that all operands fit. */
    List<Dim> positions(List<Shape> inputs) {
        Shape x = inputs.get(0);
        Rules.rank(NAME, "x", x, 4);
        Rules.divide(NAME, "channels", x.dim(1), groups);
        List<Dim> places = new ArrayList<>(
                new Windows(NAME, Windows.dims(kernel), strides, padsBefore, padsAfter, dilations, false).counts(x));
        for (int i = 1; i < inputs.size(); i++) {
            String operand = i == 1 ? "offsets" : "mask";
            Rules.rank(NAME, operand, inputs.get(i), 4);
            Expect.dim(NAME, operand, inputs.get(i), 0, x.dim(0));
            Expect.dim(
                    NAME, operand, inputs.get(i), 1, Dim.of(SizeMath.product(NAME, groups, cells(), i == 1 ? 2 : 1)));
            for (int axis = 0; axis < 2; axis++) {
                places.set(axis, Expect.dim(NAME, operand, inputs.get(i), axis + 2, places.get(axis)));
            }
        }
        return places;
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        List<Dim> places = positions(inputs);
        Shape x = inputs.getFirst();
        return List.of(Shape.of(
                x.dim(0), x.dim(1).times(Dim.of(cells())), places.get(0).times(places.get(1))));
    }

    /** A unit is one cell of the kernel for one group of one image. */
    @Override
    public long units(List<TensorType> inputs) {
        return SizeMath.product(NAME, inputs.getFirst().shape().size(0), groups, cells());
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        Shape offsets = inputs.get(1).shape();
        return SizeMath.estimate(
                offsets.elements(2, 4), 1 + inputs.getFirst().shape().size(1) / groups, 8);
    }

    @Override
    public void compute(Operands at, long from, long to) {
        Shape x = at.input(0).shape();
        Shape offsets = at.input(1).shape();
        long width = offsets.size(3);
        long places = offsets.elements(2, 4);
        long area = x.elements(2, 4);
        long allChannels = x.size(1);
        long channels = x.size(1) / groups;
        for (long unit = from; unit < to; unit++) {
            long cell = unit % cells();
            long image = unit / cells() / groups;
            long first = image * allChannels + unit / cells() % groups * channels;
            for (long place = 0; place < places; place++) {
                double y = base(0, place / width, cell / kernel.get(1)) + at.get(1, 2 * unit * places + place);
                double z = base(1, place % width, cell % kernel.get(1)) + at.get(1, (2 * unit + 1) * places + place);
                double factor = mask ? at.get(2, unit * places + place) : 1;
                for (long channel = first; channel < first + channels; channel++) {
                    double value = bilinear(at, channel * area, x.size(2), x.size(3), y, z);
                    at.set(0, (channel * cells() + cell) * places + place, factor * value);
                }
            }
        }
    }

    private long base(int axis, long place, long cell) {
        return place * strides.get(axis) - padsBefore.get(axis) + cell * dilations.get(axis);
    }

    private static double bilinear(Operands at, long plane, long height, long width, double y, double z) {
        double floorY = Math.floor(y);
        double floorZ = Math.floor(z);
        double sum = Double.isNaN(y + z) ? Double.NaN : 0;
        for (int i = 0; i < 4; i++) {
            double row = floorY + (i >> 1);
            double column = floorZ + (i & 1);
            if (row >= 0 && row < height && column >= 0 && column < width) {
                double weight = (1 - Math.abs(y - row)) * (1 - Math.abs(z - column));
                sum += weight * at.get(0, plane + width * (long) row + (long) column);
            }
        }
        return sum;
    }
}
