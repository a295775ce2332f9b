package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.convolution.DeformColumns;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * {@link DeformColumns}: a unit is a cell of the kernel for one group of one image. Where a block of places samples is
 * worked out once for all channels.
 */
public final class DeformColumnsStep extends LoopStep {
    private static final int BLOCK = 256;
    private static final int TAPS = 4;

    private final DeformColumns op;
    private final DType dtype;
    private final Shape x;
    private final long places;
    private final long width;
    private final long cells;
    private final int input;
    private final int offsets;
    private final int mask;
    private final int output;

    private DeformColumnsStep(DeformColumns op, Node node, CpuLoweringContext context) {
        List<TensorType> types = node.inputs().stream().map(Value::type).toList();
        super("cells of the kernel", op.units(types), op.unitCost(types));
        this.op = op;
        this.dtype = node.output().dtype();
        this.x = node.input(0).shape();
        this.places = node.input(1).shape().elements(2, 4);
        this.width = node.input(1).shape().size(3);
        this.cells = SizeMath.product(
                "deform_columns", op.kernel().get(0), op.kernel().get(1));
        this.input = context.slot(node.input(0));
        this.offsets = context.slot(node.input(1));
        this.mask = op.mask() ? context.slot(node.input(2)) : -1;
        this.output = context.slot(node.output());
    }

    public static CpuStep lower(DeformColumns op, Node node, CpuLoweringContext context) {
        return new DeformColumnsStep(op, node, context);
    }

    /** The taps of a block of places: an element of the plane each, -1 outside, and its weight. */
    private static final class Samples {
        final long[] elements = new long[TAPS * BLOCK];
        final double[] weights = new double[TAPS * BLOCK];
        final double[] starts = new double[BLOCK];
        final double[] factors = new double[BLOCK];
        final double[] values = new double[BLOCK];
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Samples samples = new Samples();
        long channels = x.size(1) / op.groups();
        long area = x.elements(2, 4);
        long all = x.size(1);
        for (long unit = from; unit < to; unit++) {
            long cell = unit % cells;
            long image = unit / cells / op.groups();
            long first = image * all + unit / cells % op.groups() * channels;
            for (long place = 0; place < places; place += BLOCK) {
                int count = (int) Math.min(BLOCK, places - place);
                locate(frame, unit, place, count, samples);
                for (long channel = first; channel < first + channels; channel++) {
                    sample(frame.at(input), channel * area, count, samples);
                    long target = (channel * cells + cell) * places + place;
                    Doubles.write(dtype, samples.values, count, frame.at(output), target);
                }
            }
        }
    }

    private long base(int axis, long place, long cell) {
        return place * op.strides().get(axis)
                - op.padsBefore().get(axis)
                + cell * op.dilations().get(axis);
    }

    private void locate(CpuFrame frame, long unit, long first, int count, Samples to) {
        MemorySegment moves = frame.at(offsets);
        long cell = unit % cells;
        long across = op.kernel().get(1);
        long line = x.size(3);
        for (int i = 0; i < count; i++) {
            long place = first + i;
            double y = base(0, place / width, cell / across) + Doubles.get(dtype, moves, 2 * unit * places + place);
            double z =
                    base(1, place % width, cell % across) + Doubles.get(dtype, moves, (2 * unit + 1) * places + place);
            to.starts[i] = Double.isNaN(y + z) ? Double.NaN : 0;
            to.factors[i] = mask < 0 ? 1 : Doubles.get(dtype, frame.at(mask), unit * places + place);
            for (int tap = 0; tap < TAPS; tap++) {
                double row = Math.floor(y) + (tap >> 1);
                double column = Math.floor(z) + (tap & 1);
                boolean inside = row >= 0 && row < x.size(2) && column >= 0 && column < line;
                to.elements[TAPS * i + tap] = inside ? line * (long) row + (long) column : -1;
                to.weights[TAPS * i + tap] = (1 - Math.abs(y - row)) * (1 - Math.abs(z - column));
            }
        }
    }

    private void sample(MemorySegment from, long plane, int count, Samples at) {
        for (int i = 0; i < count; i++) {
            double sum = at.starts[i];
            for (int tap = TAPS * i; tap < TAPS * i + TAPS; tap++) {
                long element = at.elements[tap];
                sum += element < 0 ? 0 : at.weights[tap] * Doubles.get(dtype, from, plane + element);
            }
            at.values[i] = at.factors[i] * sum;
        }
    }
}
