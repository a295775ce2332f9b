package dev.tenon.core.ir.op.random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** The generator against its authors' vectors; distributions against their moments; what may be drawn. */
class RandomTest {
    private static int[] hex(String... words) {
        return Arrays.stream(words)
                .mapToInt(word -> Integer.parseUnsignedInt(word, 16))
                .toArray();
    }

    /** The known answers that come with the generator's reference. */
    @Test
    void knownAnswers() {
        assertThat(Philox.words(0, 0, 0)).containsExactly(hex("6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"));
        assertThat(Philox.words(-1, -1, -1)).containsExactly(hex("408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"));
        assertThat(Philox.words(0x85a308d3243f6a88L, 0x0370734413198a2eL, 0x299f31d0a4093822L))
                .containsExactly(hex("d16cfe09", "94fdcceb", "5001e420", "24126ea1"));
    }

    private static double[] draw(RandomFn fn, long seed, long step, int count) {
        Random op = new Random(fn, DType.F32, List.of((long) count), 0, 1, seed, true);
        return op.evaluate(List.of(NdArray.of(TensorType.of(DType.I64), step)))
                .getFirst()
                .toDoubles();
    }

    @Test
    void oneSeedOneStream() {
        double[] x = draw(RandomFn.UNIFORM, 7, 0, 1000);
        assertThat(x).containsExactly(draw(RandomFn.UNIFORM, 7, 0, 1000));
        assertThat(Arrays.copyOf(x, 10)).containsExactly(draw(RandomFn.UNIFORM, 7, 0, 10));
        assertThat(x).isNotEqualTo(draw(RandomFn.UNIFORM, 8, 0, 1000));
        assertThat(x).isNotEqualTo(draw(RandomFn.UNIFORM, 7, 1, 1000));
        assertThat(Arrays.stream(x).allMatch(u -> u >= 0 && u < 1)).isTrue();
    }

    @Test
    void moments() {
        int count = 100_000;
        double[] uniform = draw(RandomFn.UNIFORM, 1, 2, count);
        assertThat(Arrays.stream(uniform).average().orElseThrow()).isCloseTo(0.5, Offset.offset(0.005));
        assertThat(Arrays.stream(uniform).map(u -> (u - 0.5) * (u - 0.5)).sum() / count)
                .isCloseTo(1.0 / 12, Offset.offset(0.002));
        double[] normal = draw(RandomFn.NORMAL, 1, 2, count);
        assertThat(Arrays.stream(normal).average().orElseThrow()).isCloseTo(0, Offset.offset(0.015));
        assertThat(Arrays.stream(normal).map(z -> z * z).sum() / count).isCloseTo(1, Offset.offset(0.02));
        assertThat(Arrays.stream(normal).map(z -> z * z * z * z).sum() / count).isCloseTo(3, Offset.offset(0.15));
        double neighbours = 0;
        for (int i = 0; i < count; i += 2) {
            neighbours += normal[i] * normal[i + 1];
        }
        assertThat(neighbours / (count / 2))
                .as("pairs share a radius, not a sign")
                .isCloseTo(0, Offset.offset(0.02));
    }

    @Test
    void classesComeAsOftenAsTheirWeightsSay() {
        NdArray weights = NdArray.of(
                TensorType.of(DType.F32, 1, 4), Math.log(1), Math.log(2), Math.log(5), Double.NEGATIVE_INFINITY);
        NdArray drawn = Interpreter.run(new Multinomial(40_000, DType.I64, 11), List.of(weights))
                .getFirst();
        int[] seen = new int[4];
        Arrays.stream(drawn.toLongs()).forEach(i -> seen[(int) i]++);
        assertThat(seen[0] / 5000.0).isCloseTo(1, Offset.offset(0.05));
        assertThat(seen[1] / 5000.0).isCloseTo(2, Offset.offset(0.07));
        assertThat(seen[2] / 5000.0).isCloseTo(5, Offset.offset(0.1));
        assertThat(seen[3]).isZero();
        NdArray half = NdArray.of(TensorType.of(DType.F32, 3), 0.0, 1, Double.NaN);
        assertThat(Interpreter.run(new Bernoulli(DType.F32, 0), List.of(half))
                        .getFirst()
                        .toDoubles())
                .containsExactly(0, 1, 0);
    }

    private static long sample(
            NdArray logits, double temperature, long k, double p, double minP, long seed, long step) {
        TensorType real = TensorType.of(DType.F32);
        TensorType whole = TensorType.of(DType.I64);
        return new Sample()
                .evaluate(List.of(
                        logits,
                        NdArray.of(real, temperature),
                        NdArray.of(whole, k),
                        NdArray.of(real, p),
                        NdArray.of(real, minP),
                        NdArray.of(whole, seed),
                        NdArray.of(whole, step)))
                .getFirst()
                .getLong(0);
    }

    /** How often each of four tokens with weights 1, 2, 4 and 1 is drawn in 4000 steps. */
    private static int[] counts(double temperature, long k, double p, double minP) {
        NdArray logits = NdArray.of(TensorType.of(DType.F64, 1, 4), Math.log(1), Math.log(2), Math.log(4), Math.log(1));
        int[] counts = new int[4];
        for (int step = 0; step < 4000; step++) {
            counts[(int) sample(logits, temperature, k, p, minP, 99, step)]++;
        }
        return counts;
    }

    @Test
    void whatMayBeDrawn() {
        assertThat(counts(0, 0, 1, 0)).containsExactly(0, 0, 4000, 0);
        int[] plain = counts(1, 0, 1, 0);
        assertThat(plain[0]).isBetween(430, 570);
        assertThat(plain[1]).isBetween(900, 1100);
        assertThat(plain[2]).isBetween(1890, 2110);
        int[] hot = counts(2, 0, 1, 0);
        assertThat(hot[2] / (double) hot[0]).isCloseTo(2, Offset.offset(0.25));
        int[] two = counts(1, 2, 1, 0);
        assertThat(two[0] + two[3]).isZero();
        assertThat(two[2] / (double) two[1]).isCloseTo(2, Offset.offset(0.2));
        assertThat(counts(1, 3, 1, 0)[3]).as("the lower index of a tie stays").isZero();
        int[] nucleus = counts(1, 0, 0.75, 0);
        assertThat(nucleus[0] + nucleus[3]).as("2 + 4 of 8 are enough").isZero();
        assertThat(nucleus[1]).isPositive();
        assertThat(counts(1, 0, 0, 0)).as("one token always stays").containsExactly(0, 0, 4000, 0);
        int[] least = counts(1, 0, 1, 0.5);
        assertThat(least[0] + least[3]).isZero();
        assertThat(least[1]).isPositive();
    }

    @Test
    void whatIsRefused() {
        NdArray bad = NdArray.of(TensorType.of(DType.F32, 1, 2), 1, Double.NaN);
        assertThatThrownBy(() -> sample(bad, 1, 0, 1, 0, 0, 0))
                .isInstanceOf(DataException.class)
                .hasMessageContaining("logit 1 of row 0 is NaN");
        NdArray good = NdArray.zeros(DType.F32, 1, 2);
        assertThatThrownBy(() -> sample(good, -1, 0, 1, 0, 0, 0)).isInstanceOf(DataException.class);
        assertThatThrownBy(() -> sample(good, 1, 0, 1, 2, 0, 0)).isInstanceOf(DataException.class);
    }
}
