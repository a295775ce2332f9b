package dev.tenon.cpu.pooling;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.pooling.RoiAlign;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * {@link RoiAlign}: a unit is a row of a region's bins. Where its samples lie along both axes is worked out once for
 * all channels; what a sample weighs is the product of the two.
 */
final class RoiAlignStep extends LoopStep {
    private final RoiAlign op;
    private final DType dtype;
    private final DType indexType;
    private final Shape shape;
    private final int input;
    private final int rois;
    private final int images;
    private final int output;

    RoiAlignStep(RoiAlign op, Node node, CpuLoweringContext context) {
        List<TensorType> types = node.inputs().stream().map(Value::type).toList();
        super(
                "rows of bins",
                SizeMath.product("roi_align", op.units(types), op.rows()),
                op.unitCost(types) / op.rows());
        this.op = op;
        this.dtype = node.output().dtype();
        this.indexType = node.input(2).dtype();
        this.shape = node.input(0).shape();
        SizeMath.toInt("roi_align", Math.max(shape.size(2), shape.size(3)));
        this.input = context.slot(node.input(0));
        this.rois = context.slot(node.input(1));
        this.images = context.slot(node.input(2));
        this.output = context.slot(node.output());
    }

    /** The samples of some bins along one axis: two elements each and the weight of the second; -1 outside. */
    private static final class Samples {
        int each;
        int[] low = new int[0];
        int[] high = new int[0];
        double[] weight = new double[0];

        void fill(double start, double bin, long first, int bins, int count, long size) {
            int all = SizeMath.toInt("roi_align", SizeMath.product("roi_align", bins, count));
            each = count;
            if (low.length < all) {
                low = new int[all];
                high = new int[all];
                weight = new double[all];
            }
            for (int i = 0; i < all; i++) {
                double at = start + (first + i / count) * bin + (i % count + 0.5) * bin / count;
                boolean outside = !(at >= -1) || at > size;
                double inside = Math.max(at, 0);
                boolean last = (long) inside >= size - 1;
                low[i] = outside ? -1 : (int) (last ? size - 1 : (long) inside);
                high[i] = last ? low[i] : low[i] + 1;
                weight[i] = outside || last ? 0 : inside - low[i];
            }
        }
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Samples across = new Samples();
        Samples down = new Samples();
        long area = shape.elements(2, 4);
        long channels = shape.size(1);
        long known = -1;
        for (long unit = from; unit < to; unit++) {
            long roi = unit / op.rows();
            if (roi != known) {
                fill(frame, roi, 0, 0, SizeMath.toInt("roi_align", op.columns()), across);
                known = roi;
            }
            fill(frame, roi, 1, unit % op.rows(), 1, down);
            long plane = image(frame, roi) * channels;
            for (long channel = 0; channel < channels; channel++) {
                long target = ((roi * channels + channel) * op.rows() + unit % op.rows()) * op.columns();
                for (int column = 0; column < op.columns(); column++) {
                    double value = pool(frame.at(input), (plane + channel) * area, down, across, column);
                    Doubles.set(dtype, frame.at(output), target + column, value);
                }
            }
        }
    }

    private long image(CpuFrame frame, long roi) {
        long image = Elements.getLong(indexType, frame.at(images), roi);
        if (image < 0 || image >= shape.size(0)) {
            throw new DataException(
                    "roi_align: roi " + roi + " is of image " + image + "; expected 0 to " + (shape.size(0) - 1));
        }
        return image;
    }

    /** @param axis 0 along columns, 1 along rows */
    private void fill(CpuFrame frame, long roi, int axis, long first, int bins, Samples samples) {
        image(frame, roi);
        double shift = op.halfPixel() ? 0.5 : 0;
        double start = Doubles.get(dtype, frame.at(rois), roi * 4 + axis) * op.scale() - shift;
        double length = Doubles.get(dtype, frame.at(rois), roi * 4 + 2 + axis) * op.scale() - shift - start;
        double bin = (op.halfPixel() ? length : Math.max(length, 1)) / (axis == 0 ? op.columns() : op.rows());
        double count = op.samples() > 0 ? op.samples() : Math.max(Math.ceil(bin), 0);
        if (!(count <= RoiAlign.MOST_SAMPLES) || !Double.isFinite(start)) {
            throw new DataException("roi_align: roi " + roi + " starts at " + start + " and is " + length
                    + " long; expected finite numbers within the image");
        }
        samples.fill(start, bin, first, bins, (int) count, shape.size(3 - axis));
    }

    private double pool(MemorySegment x, long plane, Samples down, Samples across, int column) {
        double result = 0;
        boolean first = true;
        long width = shape.size(3);
        int begin = column * across.each;
        for (int i = 0; i < down.each; i++) {
            if (!op.max()) {
                result = sum(x, plane, down, i, across, begin, result);
                continue;
            }
            for (int j = begin; j < begin + across.each; j++) {
                double lower = down.weight[i];
                double right = across.weight[j];
                boolean inside = down.low[i] >= 0 && across.low[j] >= 0;
                double a = (1 - lower) * (1 - right) * tap(inside, x, plane + down.low[i] * width + across.low[j]);
                double b = (1 - lower) * right * tap(inside, x, plane + down.low[i] * width + across.high[j]);
                double c = lower * (1 - right) * tap(inside, x, plane + down.high[i] * width + across.low[j]);
                double d = lower * right * tap(inside, x, plane + down.high[i] * width + across.high[j]);
                double largest = Math.max(Math.max(a, b), Math.max(c, d));
                result = first ? largest : Math.max(result, largest);
                first = false;
            }
        }
        return op.max() ? result : result / Math.max(1, down.each * across.each);
    }

    private double tap(boolean inside, MemorySegment x, long element) {
        return inside ? Doubles.get(dtype, x, element) : 0;
    }

    /** Adds the samples of a line of a bin, in the order of the definition. */
    private double sum(MemorySegment x, long plane, Samples down, int row, Samples across, int begin, double before) {
        double sum = before;
        if (down.low[row] < 0) {
            return sum;
        }
        double lower = down.weight[row];
        double upper = 1 - lower;
        long width = shape.size(3);
        long low = plane + down.low[row] * width;
        long high = plane + down.high[row] * width;
        for (int j = begin; j < begin + across.each; j++) {
            int left = across.low[j];
            int next = across.high[j];
            double right = across.weight[j];
            if (left >= 0) {
                double a = upper * (1 - right) * Doubles.get(dtype, x, low + left);
                double b = upper * right * Doubles.get(dtype, x, low + next);
                double c = lower * (1 - right) * Doubles.get(dtype, x, high + left);
                double d = lower * right * Doubles.get(dtype, x, high + next);
                sum += a + b + c + d;
            }
        }
        return sum;
    }
}
