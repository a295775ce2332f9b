package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.state.SelectiveScan;
import dev.tenon.cpu.function.PlainPowers;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * {@link SelectiveScan}: a unit is a channel of a sequence, whose states are kept in double over all of its
 * steps; rows of b and c are read as they lie.
 */
public final class SelectiveScanStep extends LoopStep {
    private final DType dtype;
    private final int[] slots;
    private final int skip;
    private final int initial;
    private final int output;
    private final int last;
    private final long steps;
    private final long channels;
    private final int states;

    private SelectiveScanStep(SelectiveScan op, Node node, CpuLoweringContext context) {
        Shape x = node.input(0).shape();
        int states = SizeMath.toInt("selective_scan", node.input(2).shape().size(1));
        super(
                "channels of " + node.input(0).dtype(),
                SizeMath.product("selective_scan", x.size(0), x.size(2)),
                SizeMath.estimate(x.size(1), Math.max(1, states), 4));
        this.dtype = node.input(0).dtype();
        this.slots = node.inputs().stream().mapToInt(context::slot).toArray();
        this.skip = op.skip() ? 5 : -1;
        this.initial = op.initial() ? slots.length - 1 : -1;
        this.output = context.slot(node.outputs().get(0));
        this.last = context.slot(node.outputs().get(1));
        this.steps = x.size(1);
        this.channels = x.size(2);
        this.states = states;
    }

    public static CpuStep lower(SelectiveScan op, Node node, CpuLoweringContext context) {
        return new SelectiveScanStep(op, node, context);
    }

    private double get(MemorySegment from, long element) {
        return Doubles.get(dtype, from, element);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment a = frame.at(slots[2]);
        MemorySegment ends = frame.at(last);
        double[] rates = new double[states];
        double[] h = new double[states];
        double[] b = new double[states];
        double[] c = new double[states];
        for (long unit = from; unit < to; unit++) {
            long channel = unit % channels;
            for (int n = 0; n < states; n++) {
                rates[n] = get(a, channel * states + n);
                h[n] = initial < 0 ? 0 : get(frame.at(slots[initial]), unit * states + n);
            }
            double direct = skip < 0 ? 0 : get(frame.at(slots[skip]), channel);
            for (long step = 0; step < steps; step++) {
                long row = unit / channels * steps + step;
                long element = row * channels + channel;
                Doubles.read(dtype, frame.at(slots[3]), row * states, b, states);
                Doubles.read(dtype, frame.at(slots[4]), row * states, c, states);
                double value = get(frame.at(slots[0]), element);
                double delta = get(frame.at(slots[1]), element);
                double sum = (skip < 0 ? 0 : direct * value) + advance(rates, h, b, c, delta, delta * value);
                Doubles.set(dtype, frame.at(output), element, sum);
            }
            Doubles.write(dtype, h, states, ends, unit * states);
        }
    }

    /** A step of one channel: the states after it, and their sum weighed by c. */
    private double advance(double[] rates, double[] h, double[] b, double[] c, double delta, double push) {
        double sum = 0;
        for (int n = 0; n < h.length; n++) {
            double rate = delta * rates[n];
            h[n] = (dtype == DType.F64 ? Math.exp(rate) : PlainPowers.exp(rate)) * h[n] + b[n] * push;
            sum += c[n] * h[n];
        }
        return sum;
    }
}
