package dev.tenon.core.ir.op.random;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Random numbers from {@link Philox}: element i comes from the words of counter {@code i / 4}, the seed is the key; so
 * the same seed gives the same numbers on every device, in every run.
 *
 * <p>[step? i64 []] → [y of the float type and sizes]; the step is the counter's upper half: other steps, other
 * numbers. With {@code u = Philox.unit(word i % 4)}, UNIFORM is {@code a + (b - a) u}; NORMAL is {@code a + b z} by Box
 * and Muller (1958) of word pairs: {@code z = sqrt(-2 ln(1 - u0)) cos(2 pi u1)}, and the sine for odd i. Rounding to a
 * short type may give b itself. ONNX RandomUniform-1, RandomNormal-1.
 */
public record Random(RandomFn fn, DType dtype, List<Long> sizes, double a, double b, long seed, boolean step)
        implements InUnits {
    private static final int BLOCK = 4;

    public Random {
        sizes = List.copyOf(sizes);
        Rules.require("random", "the result", dtype, DType::isFloat, "a float type");
        double first = a;
        double second = b;
        Expect.shape(
                Double.isFinite(first) && Double.isFinite(second),
                "random",
                () -> "parameters " + first + ", " + second + "; expected finite numbers");
        Shape.ofSizes(sizes).elements();
    }

    @Override
    public Arity arity() {
        return Arity.exactly(step ? 1 : 0);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        if (step) {
            Rules.tuples(mnemonic(), "step", inputs.getFirst());
        }
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        if (step) {
            Rules.rank(mnemonic(), "step", inputs.getFirst(), 0);
        }
        return List.of(Shape.ofSizes(sizes));
    }

    /** A unit is the elements of one counter. */
    @Override
    public long units(List<TensorType> inputs) {
        return Math.ceilDiv(Shape.ofSizes(sizes).elements(), BLOCK);
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        return 100;
    }

    @Override
    public void compute(Operands at, long from, long to) {
        long elements = at.result(0).shape().elements();
        long high = step ? at.getLong(0, 0) : 0;
        for (long unit = from; unit < to; unit++) {
            int[] words = Philox.words(unit, high, seed);
            for (int i = 0; i < BLOCK && unit * BLOCK + i < elements; i++) {
                at.set(0, unit * BLOCK + i, number(words, i));
            }
        }
    }

    private double number(int[] words, int i) {
        return switch (fn) {
            case UNIFORM -> a + (b - a) * Philox.unit(words[i]);
            case NORMAL -> {
                double radius = Math.sqrt(-2 * Math.log(1 - Philox.unit(words[i & ~1])));
                double angle = 2 * Math.PI * Philox.unit(words[i | 1]);
                yield a + b * radius * ((i & 1) == 0 ? Math.cos(angle) : Math.sin(angle));
            }
        };
    }
}
