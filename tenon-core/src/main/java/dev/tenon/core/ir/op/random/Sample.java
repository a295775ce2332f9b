package dev.tenon.core.ir.op.random;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.Arrays;
import java.util.List;

/**
 * Draws one token a row: the same for the same logits, seed and step on every device, as far as their exponentials
 * agree.
 *
 * <p>[logits float [rows,vocabulary], temperature f32 [], top k i64 [], top p f32 [], min p f32 [], seed i64 [], step
 * i64 []] → [token i64 [rows]]. Temperature 0 takes the largest logit, the lower index on ties. Otherwise, in this
 * order: weights {@code exp((logit - largest) / temperature)}; the k largest weights stay (0: all; ties by the lower
 * index); of these the fewest, largest first, whose sum is at least p of theirs (1: all); of these the ones that are at
 * least {@code min p} of the largest (0: all). The token is the first, in the order of the vocabulary, at which the
 * running sum of the weights that stayed exceeds {@code u} times their sum, with u the first number of {@link Philox}
 * at counter (row, step) under the seed. A logit of -inf never stays beside others; NaN is an error. Top p: Holtzman et
 * al., <a href="https://arxiv.org/abs/1904.09751">The Curious Case of Neural Text Degeneration</a>, 2019; min p: Nguyen
 * et al., <a href="https://arxiv.org/abs/2407.01082">Turning Up the Heat</a>, 2024.
 */
public record Sample() implements InUnits {
    private static final List<String> NAMES =
            List.of("logits", "temperature", "top k", "top p", "min p", "seed", "step");

    @Override
    public Arity arity() {
        return Arity.exactly(NAMES.size());
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Expect.floating(mnemonic(), NAMES.getFirst(), inputs.getFirst());
        for (int i = 1; i < NAMES.size(); i++) {
            boolean real = i == 1 || i == 3 || i == 4;
            Expect.same(mnemonic(), NAMES.get(i), inputs.get(i), real ? DType.F32 : DType.I64);
        }
        return List.of(DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape logits = inputs.getFirst();
        Rules.rank(mnemonic(), NAMES.getFirst(), logits, 2);
        for (int i = 1; i < NAMES.size(); i++) {
            Rules.rank(mnemonic(), NAMES.get(i), inputs.get(i), 0);
        }
        Expect.shape(!logits.dim(1).is(0), mnemonic(), () -> "logits " + logits + " have no tokens to draw");
        return List.of(Shape.of(logits.dim(0)));
    }

    @Override
    public long units(List<TensorType> inputs) {
        return inputs.getFirst().shape().size(0);
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        return SizeMath.estimate(inputs.getFirst().shape().size(1), 32);
    }

    @Override
    public void compute(Operands at, long from, long to) {
        double temperature = at.get(1, 0);
        if (!(temperature >= 0)
                || !(at.get(3, 0) >= 0)
                || !(at.get(4, 0) >= 0 && at.get(4, 0) <= 1)
                || at.getLong(2, 0) < 0) {
            throw new DataException(mnemonic() + ": temperature " + temperature + ", top k " + at.getLong(2, 0)
                    + ", top p " + at.get(3, 0) + ", min p " + at.get(4, 0)
                    + "; expected 0 or more, and min p at most 1");
        }
        int size = SizeMath.toInt("sample", at.input(0).shape().size(1));
        double[] weights = new double[size];
        for (long row = from; row < to; row++) {
            int largest = 0;
            for (int i = 0; i < size; i++) {
                weights[i] = at.get(0, row * size + i);
                if (Double.isNaN(weights[i])) {
                    throw new DataException(mnemonic() + ": logit " + i + " of row " + row + " is NaN");
                }
                largest = weights[i] > weights[largest] ? i : largest;
            }
            at.setLong(0, row, temperature == 0 ? largest : draw(at, row, weights, largest));
        }
    }

    private static int draw(Operands at, long row, double[] weights, int largest) {
        double top = weights[largest];
        double temperature = at.get(1, 0);
        for (int i = 0; i < weights.length; i++) {
            // equal first: the difference of infinities is no number
            weights[i] = weights[i] == top ? 1 : Math.exp((weights[i] - top) / temperature);
        }
        long count = at.getLong(2, 0);
        double share = at.get(3, 0);
        if ((count > 0 && count < weights.length) || share < 1) {
            keepLargest(weights, count == 0 ? weights.length : count, share);
        }
        double sum = 0;
        double least = at.get(4, 0);
        for (int i = 0; i < weights.length; i++) {
            weights[i] = weights[i] < least ? 0 : weights[i];
            sum += weights[i];
        }
        double target = Philox.unit(Philox.words(row, at.getLong(6, 0), at.getLong(5, 0))[0]) * sum;
        double running = 0;
        int last = largest;
        for (int i = 0; i < weights.length; i++) {
            running += weights[i];
            if (weights[i] > 0) {
                last = i;
                if (running > target) {
                    return i;
                }
            }
        }
        return last;
    }

    /** Makes the weights 0 that are not among the {@code count} largest, and then the fewest whose sum is enough. */
    private static void keepLargest(double[] weights, long count, double share) {
        // positive doubles are in the order of their bits; the index, reversed, settles ties
        long[] keys = new long[weights.length];
        double[] before = weights.clone();
        for (int i = 0; i < keys.length; i++) {
            keys[i] = (long) Float.floatToRawIntBits((float) weights[i]) << 32 | (keys.length - 1 - i);
        }
        Arrays.sort(keys);
        int kept = (int) Math.min(count, keys.length);
        double sum = 0;
        for (int i = 0; i < kept; i++) {
            sum += before[index(keys, i)];
        }
        Arrays.fill(weights, 0);
        double running = 0;
        for (int i = 0; i < kept && (i == 0 || running < share * sum); i++) {
            int index = index(keys, i);
            weights[index] = before[index];
            running += before[index];
        }
    }

    /** The place of the i-th largest. */
    private static int index(long[] ascending, int i) {
        return ascending.length - 1 - (int) ascending[ascending.length - 1 - i];
    }
}
