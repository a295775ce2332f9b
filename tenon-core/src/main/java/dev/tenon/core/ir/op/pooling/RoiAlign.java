package dev.tenon.core.ir.op.pooling;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Pools regions of an image to one size, from bilinear samples on a regular grid in each bin.
 *
 * <p>[x [B,C,H,W], rois [R,4] of (x, y, x, y), image of each roi i64 [R]] → [y [R,C,rows,columns]] of x's float type.
 * With {@code samples} 0 a bin has as many a side as it is long, rounded up. {@code halfPixel} moves regions by half an
 * element, without it they are at least one element large. A bin is the mean of its samples, or with {@code max} the
 * largest weighted tap among them (not the largest sample: so ONNX defines it). A sample more than one element outside
 * counts 0. ONNX RoiAlign-16; <a href="https://arxiv.org/abs/1703.06870">Mask R-CNN</a>, 2017.
 */
public record RoiAlign(long rows, long columns, long samples, double scale, boolean halfPixel, boolean max)
        implements InUnits {
    private static final String NAME = "roi_align";
    /** More samples along a side of a bin than any image has elements come from a broken region. */
    public static final long MOST_SAMPLES = 1 << 14;

    public RoiAlign {
        long height = rows;
        long width = columns;
        long grid = samples;
        Expect.shape(
                height > 0 && width > 0 && grid >= 0 && grid <= MOST_SAMPLES,
                NAME,
                () -> "result of " + height + " x " + width + " with " + grid
                        + " samples; expected 1 or more each way and 0 to " + MOST_SAMPLES + " samples");
    }

    /** A side of a region: where it starts, how long a bin is, how many samples a bin has. */
    private record Side(double start, double bin, long samples) {
        double sample(long bins, long index) {
            return start + bins * bin + (index + 0.5) * bin / samples;
        }
    }

    /** One axis of a bilinear sample: two elements and the weight of the second; no elements outside. */
    private record Between(long low, long high, double weight) {
        static Between of(double at, long size) {
            if (!(at >= -1) || at > size) {
                return new Between(-1, -1, 0);
            }
            double inside = Math.max(at, 0);
            long low = (long) inside;
            return low >= size - 1 ? new Between(size - 1, size - 1, 0) : new Between(low, low + 1, inside - low);
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(NAME, "image of each roi", inputs.get(2));
        return List.of(Rules.sameFloat(NAME, inputs.subList(0, 2)));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.get(0);
        Rules.rank(NAME, "x", x, 4);
        Rules.rank(NAME, "rois", inputs.get(1), 2);
        Rules.rank(NAME, "image of each roi", inputs.get(2), 1);
        Expect.dim(NAME, "rois", inputs.get(1), 1, Dim.of(4));
        Dim count = Expect.dim(
                NAME, "image of each roi", inputs.get(2), 0, inputs.get(1).dim(0));
        return List.of(Shape.of(count, x.dim(1), Dim.of(rows), Dim.of(columns)));
    }

    /** A unit is a region, for all channels. */
    @Override
    public long units(List<TensorType> inputs) {
        return inputs.get(1).shape().size(0);
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        long each = samples == 0 ? 2 : samples;
        return SizeMath.estimate(inputs.getFirst().shape().size(1), rows, columns, each, each, 8);
    }

    @Override
    public void compute(Operands at, long from, long to) {
        Shape x = at.input(0).shape();
        long channels = x.size(1);
        long area = x.elements(2, 4);
        for (long roi = from; roi < to; roi++) {
            long image = at.getLong(2, roi);
            if (image < 0 || image >= x.size(0)) {
                throw new DataException(
                        NAME + ": roi " + roi + " is of image " + image + "; expected 0 to " + (x.size(0) - 1));
            }
            Side height = side(at, roi, 1, rows);
            Side width = side(at, roi, 0, columns);
            for (long channel = 0; channel < channels; channel++) {
                long plane = (image * channels + channel) * area;
                for (long bin = 0; bin < rows * columns; bin++) {
                    double value = pool(at, plane, x, height, bin / columns, width, bin % columns);
                    at.set(0, (roi * channels + channel) * rows * columns + bin, value);
                }
            }
        }
    }

    private Side side(Operands at, long roi, int axis, long bins) {
        double shift = halfPixel ? 0.5 : 0;
        double start = at.get(1, roi * 4 + axis) * scale - shift;
        double length = at.get(1, roi * 4 + 2 + axis) * scale - shift - start;
        double bin = (halfPixel ? length : Math.max(length, 1)) / bins;
        double count = samples > 0 ? samples : Math.max(Math.ceil(bin), 0);
        if (!(count <= MOST_SAMPLES) || !Double.isFinite(start)) {
            throw new DataException(NAME + ": roi " + roi + " starts at " + start + " and is " + length
                    + " long; expected finite numbers within the image");
        }
        return new Side(start, bin, (long) count);
    }

    private double pool(Operands at, long plane, Shape x, Side height, long row, Side width, long column) {
        double result = 0;
        boolean first = true;
        long across = x.size(3);
        for (long i = 0; i < height.samples(); i++) {
            Between y = Between.of(height.sample(row, i), x.size(2));
            for (long j = 0; j < width.samples(); j++) {
                Between z = Between.of(width.sample(column, j), across);
                boolean outside = y.low() < 0 || z.low() < 0;
                long low = plane + y.low() * across;
                long high = plane + y.high() * across;
                double a = outside ? 0 : (1 - y.weight()) * (1 - z.weight()) * at.get(0, low + z.low());
                double b = outside ? 0 : (1 - y.weight()) * z.weight() * at.get(0, low + z.high());
                double c = outside ? 0 : y.weight() * (1 - z.weight()) * at.get(0, high + z.low());
                double d = outside ? 0 : y.weight() * z.weight() * at.get(0, high + z.high());
                double largest = Math.max(Math.max(a, b), Math.max(c, d));
                result = !max ? result + (a + b + c + d) : first ? largest : Math.max(result, largest);
                first = false;
            }
        }
        return max ? result : result / Math.max(1, height.samples() * width.samples());
    }
}
