package dev.tenon.cpu.random;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.random.Random;
import dev.tenon.core.ir.op.random.RandomFn;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/** {@link Random}: a unit is the four elements of one counter. Numbers are in double, rounded once to the type. */
public final class RandomStep extends LoopStep {
    private static final int WORDS = 4;

    private final Random op;
    private final DType dtype;
    private final long elements;
    private final int step;
    private final DType stepType;
    private final int output;

    private RandomStep(Random op, Node node, CpuLoweringContext context) {
        super(
                "counters",
                Math.ceilDiv(node.output().shape().elements(), WORDS),
                op.fn() == RandomFn.UNIFORM ? 30 : 120);
        this.op = op;
        this.dtype = op.dtype();
        this.elements = node.output().shape().elements();
        this.step = op.step() ? context.slot(node.input(0)) : -1;
        this.stepType = op.step() ? node.input(0).dtype() : DType.I64;
        this.output = context.slot(node.output());
    }

    public static CpuStep lower(Random op, Node node, CpuLoweringContext context) {
        return new RandomStep(op, node, context);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment y = frame.at(output);
        long high = step < 0 ? 0 : Elements.getLong(stepType, frame.at(step), 0);
        PhiloxLanes lanes = new PhiloxLanes();
        double[] numbers = new double[WORDS * PhiloxLanes.LANES];
        for (long unit = from; unit < to; unit += PhiloxLanes.LANES) {
            lanes.fill(unit, high, op.seed());
            lanes.units(numbers);
            int count = (int) Math.min(WORDS * Math.min(PhiloxLanes.LANES, to - unit), elements - unit * WORDS);
            if (op.fn() == RandomFn.UNIFORM) {
                double a = op.a();
                double width = op.b() - a;
                for (int i = 0; i < numbers.length; i++) {
                    numbers[i] = a + width * numbers[i];
                }
            } else {
                normal(numbers, count);
            }
            Doubles.write(dtype, numbers, count, y, unit * WORDS);
        }
    }

    /** Two numbers of each two, in the order of the definition: a + (b radius) cos. */
    private void normal(double[] numbers, int count) {
        for (int i = 0; i < count; i += 2) {
            double radius = op.b() * Math.sqrt(-2 * Math.log(1 - numbers[i]));
            double angle = 2 * Math.PI * numbers[i + 1];
            numbers[i] = op.a() + radius * Math.cos(angle);
            numbers[i + 1] = op.a() + radius * Math.sin(angle);
        }
    }
}
