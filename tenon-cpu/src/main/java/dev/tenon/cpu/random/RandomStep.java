package dev.tenon.cpu.random;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.random.Philox;
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
    /** Counters whose numbers are written together. */
    private static final int BLOCK = 64;

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
        double[] numbers = new double[WORDS * BLOCK];
        for (long unit = from; unit < to; unit += BLOCK) {
            int counters = (int) Math.min(BLOCK, to - unit);
            for (int counter = 0; counter < counters; counter++) {
                int[] words = Philox.words(unit + counter, high, op.seed());
                if (op.fn() == RandomFn.UNIFORM) {
                    for (int i = 0; i < WORDS; i++) {
                        numbers[counter * WORDS + i] = op.a() + (op.b() - op.a()) * Philox.unit(words[i]);
                    }
                } else {
                    normal(words, 0, numbers, counter * WORDS);
                    normal(words, 2, numbers, counter * WORDS + 2);
                }
            }
            int count = (int) Math.min((long) counters * WORDS, elements - unit * WORDS);
            Doubles.write(dtype, numbers, count, y, unit * WORDS);
        }
    }

    /** Two numbers of two words, in the order of the definition: a + (b radius) cos. */
    private void normal(int[] words, int first, double[] numbers, int to) {
        double radius = op.b() * Math.sqrt(-2 * Math.log(1 - Philox.unit(words[first])));
        double angle = 2 * Math.PI * Philox.unit(words[first + 1]);
        numbers[to] = op.a() + radius * Math.cos(angle);
        numbers[to + 1] = op.a() + radius * Math.sin(angle);
    }
}
