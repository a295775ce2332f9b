package dev.tenon.cpu.image;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.image.GridSample;
import dev.tenon.core.ir.op.image.SampleTaps;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * {@link GridSample}: a unit is a position of the grid, whose elements and weights are
 * found once for all channels.
 */
public final class GridSampleStep extends LoopStep {
    /** Elements of an axis that a sample depends on at most. */
    private static final int MOST_TAPS = 4;

    private final GridSample op;
    private final DType dtype;
    private final DType gridType;
    private final int input;
    private final int grid;
    private final int output;
    private final long[] sizes;
    private final long[] strides;
    private final long area;
    private final long channels;
    private final long places;

    private GridSampleStep(GridSample op, Node node, CpuLoweringContext context) {
        Shape x = node.input(0).shape();
        super("places of " + node.output().dtype(), op.units(types(node)), op.unitCost(types(node)) / 4);
        this.op = op;
        this.dtype = node.output().dtype();
        this.gridType = node.input(1).dtype();
        this.input = context.slot(node.input(0));
        this.grid = context.slot(node.input(1));
        this.output = context.slot(node.output());
        this.sizes = x.range(2, x.rank()).sizes();
        this.strides = x.range(2, x.rank()).strides();
        this.area = x.elements(2, x.rank());
        this.channels = x.size(1);
        this.places = node.output().shape().elements(2, x.rank());
    }

    private static List<TensorType> types(Node node) {
        return node.inputs().stream().map(Value::type).toList();
    }

    public static CpuStep lower(GridSample op, Node node, CpuLoweringContext context) {
        return new GridSampleStep(op, node, context);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        int most = 1;
        for (int axis = 0; axis < sizes.length; axis++) {
            most = SizeMath.toInt("grid_sample", most, MOST_TAPS);
        }
        long[] elements = new long[most];
        double[] weights = new double[most];
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        for (long unit = from; unit < to; unit++) {
            int count = taps(frame.at(grid), unit, elements, weights);
            long plane = unit / places * channels;
            for (long channel = plane; channel < plane + channels; channel++) {
                double sum = 0;
                for (int tap = 0; tap < count; tap++) {
                    sum += weights[tap] * Doubles.get(dtype, x, channel * area + elements[tap]);
                }
                Doubles.set(dtype, y, channel * places + unit % places, sum);
            }
        }
    }

    /** The elements of a plane that a position samples, and their weights; returns how many. */
    private int taps(MemorySegment positions, long unit, long[] elements, double[] weights) {
        int dims = sizes.length;
        int count = 1;
        elements[0] = 0;
        weights[0] = 1;
        for (int axis = 0; axis < dims; axis++) {
            double normal = Doubles.get(gridType, positions, unit * dims + dims - 1 - axis);
            SampleTaps own = op.taps(normal, sizes[axis]);
            int before = count;
            count = 0;
            // from the last on: the products of the taps before are where the new ones go
            for (int old = before - 1; old >= 0; old--) {
                elements[old + elements.length - before] = elements[old];
                weights[old + elements.length - before] = weights[old];
            }
            for (int old = elements.length - before; old < elements.length; old++) {
                long element = elements[old];
                double weight = weights[old];
                for (int tap = 0; tap < own.count(); tap++) {
                    long index = own.index(tap);
                    // a position that is no number gives none, though another axis is outside
                    if (index != SampleTaps.OUTSIDE || Double.isNaN(weight)) {
                        elements[count] = element + Math.max(index, 0) * strides[axis];
                        weights[count++] = weight * own.weight(tap);
                    }
                }
            }
        }
        return count;
    }
}
