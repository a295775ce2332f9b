package dev.tenon.core.ir.op.image;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Samples an image of any number of spatial dims at the positions that a grid gives.
 *
 * <p>[x [B,C,spatial...], grid [B,out...,spatial dims]] → [y [B,C,out...]] of x's float type. A position of the grid
 * has the last spatial dim first; -1 and 1 are the middles of the first and last element with {@code alignCorners},
 * else their outer edges. Linear and cubic interpolation are separable products over the dims (cubic: Keys 1981, a =
 * -0.75). Positions past the image are moved by {@code padding}, then rounded or interpolated. A NaN position gives
 * NaN; an infinite one 0 with zeros outside. No spatial dim may be 0. ONNX GridSample-20; <a
 * href="https://arxiv.org/abs/1506.02025">Spatial Transformer Networks</a>, 2015.
 */
public record GridSample(ResizeMode mode, SamplePadding padding, boolean alignCorners) implements InUnits {
    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Expect.floating(mnemonic(), "grid", inputs.get(1));
        return List.of(Expect.floating(mnemonic(), "x", inputs.get(0)));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.get(0);
        Shape grid = inputs.get(1);
        Rules.rankAtLeast(mnemonic(), "x", x, 3);
        Rules.rank(mnemonic(), "grid", grid, x.rank());
        Expect.dim(mnemonic(), "grid", grid, x.rank() - 1, Dim.of(x.rank() - 2));
        Dim batch = Expect.dim(mnemonic(), "grid", grid, 0, x.dim(0));
        Expect.shape(
                x.range(2, x.rank()).dims().stream().noneMatch(dim -> dim.is(0)),
                mnemonic(),
                () -> "x " + x + " has nothing to sample; expected spatial dims of 1 or more");
        return List.of(Shape.of(batch, x.dim(1)).concat(grid.range(1, grid.rank() - 1)));
    }

    /** A unit is a position of the grid, for all channels. */
    @Override
    public long units(List<TensorType> inputs) {
        Shape grid = inputs.get(1).shape();
        return grid.elements(0, grid.rank() - 1);
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        Shape x = inputs.getFirst().shape();
        double taps = mode == ResizeMode.NEAREST ? 1 : mode == ResizeMode.LINEAR ? 2 : 4;
        return (long) (8 * (1 + x.size(1)) * Math.pow(taps, x.rank() - 2.0));
    }

    @Override
    public void compute(Operands at, long from, long to) {
        Shape x = at.input(0).shape();
        Shape y = at.result(0).shape();
        int dims = x.rank() - 2;
        long[] strides = x.range(2, x.rank()).strides();
        long area = x.elements(2, x.rank());
        long places = y.elements(2, y.rank());
        long channels = x.size(1);
        SampleTaps[] taps = new SampleTaps[dims];
        for (long unit = from; unit < to; unit++) {
            for (int axis = 0; axis < dims; axis++) {
                long size = x.size(axis + 2);
                taps[axis] = taps(at.get(1, unit * dims + dims - 1 - axis), size);
            }
            long batch = unit / places;
            for (long channel = 0; channel < channels; channel++) {
                long plane = batch * channels + channel;
                at.set(0, plane * places + unit % places, sample(at, plane * area, strides, taps, 0));
            }
        }
    }

    /** Returns the elements of an axis of that size that a coordinate of the grid, -1 to 1 inside, samples. */
    public SampleTaps taps(double normal, long size) {
        double position = alignCorners ? (normal + 1) / 2 * (size - 1) : ((normal + 1) * size - 1) / 2;
        return SampleTaps.of(position, size, alignCorners ? 0 : -0.5, mode, padding);
    }

    private static double sample(Operands at, long offset, long[] strides, SampleTaps[] taps, int axis) {
        if (axis == taps.length) {
            return at.get(0, offset);
        }
        double sum = 0;
        for (int i = 0; i < taps[axis].count(); i++) {
            long index = taps[axis].index(i);
            if (index != SampleTaps.OUTSIDE) {
                double value = sample(at, offset + index * strides[axis], strides, taps, axis + 1);
                sum += taps[axis].weight(i) * value;
            }
        }
        return sum;
    }
}
