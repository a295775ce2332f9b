package dev.tenon.core.ir.op.pooling;

import dev.tenon.core.error.DataException;
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
 * The maxima of regions of an image, in bins of whole elements; an empty bin gives 0.
 *
 * <p>[x [B,C,H,W], rois [R,5] of (image, x, y, x, y)] → [y [R,C,rows,columns]] of x's float type. Corners are scaled
 * and rounded (halves up), both belong to the region. NaN wins. ONNX MaxRoiPool-1; <a
 * href="https://arxiv.org/abs/1504.08083">Fast R-CNN</a>, 2015.
 */
public record MaxRoiPool(long rows, long columns, double scale) implements InUnits {
    private static final String NAME = "max_roi_pool";

    public MaxRoiPool {
        long height = rows;
        long width = columns;
        Expect.shape(
                height > 0 && width > 0,
                NAME,
                () -> "result of " + height + " x " + width + "; expected 1 or more each way");
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(NAME, inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.rank(NAME, "x", inputs.get(0), 4);
        Rules.rank(NAME, "rois", inputs.get(1), 2);
        Expect.dim(NAME, "rois", inputs.get(1), 1, Dim.of(5));
        return List.of(Shape.of(inputs.get(1).dim(0), inputs.get(0).dim(1), Dim.of(rows), Dim.of(columns)));
    }

    /** A unit is a region, for all channels. */
    @Override
    public long units(List<TensorType> inputs) {
        return inputs.get(1).shape().size(0);
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        Shape x = inputs.getFirst().shape();
        return x.elements(1, 4);
    }

    @Override
    public void compute(Operands at, long from, long to) {
        Shape x = at.input(0).shape();
        long channels = x.size(1);
        long area = x.elements(2, 4);
        long width = x.size(3);
        for (long roi = from; roi < to; roi++) {
            double image = at.get(1, roi * 5);
            if (!(image >= 0 && image < x.size(0))) {
                throw new DataException(
                        NAME + ": roi " + roi + " is of image " + image + "; expected 0 to " + (x.size(0) - 1));
            }
            long first = (long) image;
            for (long channel = 0; channel < x.size(1); channel++) {
                long plane = (first * channels + channel) * area;
                for (long bin = 0; bin < rows * columns; bin++) {
                    long[] y = range(at, roi, 2, bin / columns, rows, x.size(2));
                    long[] z = range(at, roi, 1, bin % columns, columns, x.size(3));
                    double most = y[0] < y[1] && z[0] < z[1] ? Double.NEGATIVE_INFINITY : 0;
                    for (long i = y[0]; i < y[1]; i++) {
                        for (long j = z[0]; j < z[1]; j++) {
                            most = Math.max(most, at.get(0, plane + i * width + j));
                        }
                    }
                    at.set(0, (roi * channels + channel) * rows * columns + bin, most);
                }
            }
        }
    }

    /** The elements [from, to) of a bin along one axis. */
    private long[] range(Operands at, long roi, int first, long bin, long bins, long size) {
        double start = Math.floor(at.get(1, roi * 5 + first) * scale + 0.5);
        double end = Math.floor(at.get(1, roi * 5 + first + 2) * scale + 0.5);
        double each = Math.max(end - start + 1, 1) / bins;
        long low = (long) Math.clamp(start + Math.floor(bin * each), 0.0, (double) size);
        long high = (long) Math.clamp(start + Math.ceil((bin + 1) * each), 0.0, (double) size);
        return new long[] {low, high};
    }
}
