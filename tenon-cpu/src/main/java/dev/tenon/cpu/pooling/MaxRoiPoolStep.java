package dev.tenon.cpu.pooling;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.pooling.MaxRoiPool;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** {@link MaxRoiPool}: a unit is a row of a region's bins, whose places are worked out once for all channels. */
final class MaxRoiPoolStep extends LoopStep {
    private static final int ROI = 5;

    private final MaxRoiPool op;
    private final DType dtype;
    private final Shape shape;
    private final int input;
    private final int rois;
    private final int output;

    MaxRoiPoolStep(MaxRoiPool op, Node node, CpuLoweringContext context) {
        List<TensorType> types = node.inputs().stream().map(Value::type).toList();
        super(
                "rows of bins",
                SizeMath.product("max_roi_pool", op.units(types), op.rows()),
                op.unitCost(types) / op.rows());
        this.op = op;
        this.dtype = node.output().dtype();
        this.shape = node.input(0).shape();
        SizeMath.toInt("max_roi_pool", shape.size(3));
        this.input = context.slot(node.input(0));
        this.rois = context.slot(node.input(1));
        this.output = context.slot(node.output());
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        int columns = SizeMath.toInt("max_roi_pool", op.columns());
        long[] across = new long[2 * columns];
        long[] down = new long[2];
        long channels = shape.size(1);
        long area = shape.elements(2, 4);
        for (long unit = from; unit < to; unit++) {
            long roi = unit / op.rows();
            long row = unit % op.rows();
            double image = corner(frame, roi, 0);
            if (!(image >= 0 && image < shape.size(0))) {
                throw new DataException("max_roi_pool: roi " + roi + " is of image " + image + "; expected 0 to "
                        + (shape.size(0) - 1));
            }
            bins(frame, roi, 2, row, op.rows(), shape.size(2), down);
            bins(frame, roi, 1, 0, columns, shape.size(3), across);
            long first = channels * (long) image;
            for (long channel = 0; channel < channels; channel++) {
                long plane = (first + channel) * area;
                long target = ((roi * channels + channel) * op.rows() + row) * columns;
                for (int column = 0; column < columns; column++) {
                    double most = most(frame.at(input), plane, down, across[2 * column], across[2 * column + 1]);
                    Doubles.set(dtype, frame.at(output), target + column, most);
                }
            }
        }
    }

    private double corner(CpuFrame frame, long roi, int index) {
        return Doubles.get(dtype, frame.at(rois), roi * ROI + index);
    }

    /** Where bins begin and end along one axis, as many as there is room for, from bin {@code from} on. */
    private void bins(CpuFrame frame, long roi, int first, long from, long bins, long size, long[] ends) {
        double start = Math.floor(corner(frame, roi, first) * op.scale() + 0.5);
        double end = Math.floor(corner(frame, roi, first + 2) * op.scale() + 0.5);
        double each = Math.max(end - start + 1, 1) / bins;
        for (int i = 0; i < ends.length / 2; i++) {
            ends[2 * i] = (long) Math.clamp(start + Math.floor((from + i) * each), 0.0, (double) size);
            ends[2 * i + 1] = (long) Math.clamp(start + Math.ceil((from + i + 1) * each), 0.0, (double) size);
        }
    }

    private double most(MemorySegment x, long plane, long[] down, long left, long right) {
        if (down[0] >= down[1] || left >= right) {
            return 0;
        }
        double most = Double.NEGATIVE_INFINITY;
        long width = shape.size(3);
        for (long row = down[0]; row < down[1]; row++) {
            long line = plane + row * width + left;
            int count = (int) (right - left);
            most = Math.max(most, dtype == DType.F32 ? ofFloats(x, line, count) : ofOthers(x, line, count));
        }
        return most;
    }

    private static float ofFloats(MemorySegment x, long first, int count) {
        float most = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            most = Math.max(most, x.get(Raw.F32, (first + i) * Float.BYTES));
        }
        return most;
    }

    private double ofOthers(MemorySegment x, long first, int count) {
        double most = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            most = Math.max(most, Doubles.get(dtype, x, first + i));
        }
        return most;
    }
}
