package dev.tenon.core.ir.op.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.elementwise.Unary;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The layer against the formula, written out token by token. */
class MixtureOfExpertsTest {
    private static final int HIDDEN = 3;
    private static final int INNER = 4;
    private static final int EXPERTS = 5;

    private final SplittableRandom random = new SplittableRandom(7);

    private NdArray drawn(long... sizes) {
        NdArray array = NdArray.zeros(TensorType.of(DType.F64, sizes));
        for (int i = 0; i < array.size(); i++) {
            array.set(i, random.nextDouble(-1, 1));
        }
        return array;
    }

    @ParameterizedTest
    @CsvSource({"1, true", "2, true", "2, false", "5, true", "5, false"})
    void isTheFormula(int k, boolean normalised) {
        int tokens = 6;
        List<NdArray> inputs = List.of(
                drawn(tokens, HIDDEN),
                drawn(tokens, EXPERTS),
                drawn(EXPERTS, HIDDEN, INNER),
                drawn(EXPERTS, HIDDEN, INNER),
                drawn(EXPERTS, INNER, HIDDEN));
        NdArray y = Interpreter.run(new MixtureOfExperts(k, normalised, Unary.silu()), inputs)
                .getFirst();
        for (int token = 0; token < tokens; token++) {
            double[] expected = expected(inputs, token, k, normalised);
            for (int h = 0; h < HIDDEN; h++) {
                assertThat(y.get(token * HIDDEN + h)).isCloseTo(expected[h], within(1e-12));
            }
        }
    }

    private static double[] expected(List<NdArray> inputs, int token, int k, boolean normalised) {
        double[] scores = new double[EXPERTS];
        for (int e = 0; e < EXPERTS; e++) {
            scores[e] = Math.exp(inputs.get(1).get(token * EXPERTS + e));
        }
        double all = Arrays.stream(scores).sum();
        List<Integer> chosen = IntStream.range(0, EXPERTS)
                .boxed()
                .sorted(Comparator.comparingDouble(e -> -scores[e]))
                .limit(k)
                .toList();
        double taken = normalised ? chosen.stream().mapToDouble(e -> scores[e]).sum() : all;
        double[] y = new double[HIDDEN];
        for (int e : chosen) {
            double[] inner = new double[INNER];
            for (int f = 0; f < INNER; f++) {
                double gate = 0;
                double up = 0;
                for (int h = 0; h < HIDDEN; h++) {
                    double x = inputs.get(0).get(token * HIDDEN + h);
                    gate += x * inputs.get(2).get((e * HIDDEN + h) * INNER + f);
                    up += x * inputs.get(3).get((e * HIDDEN + h) * INNER + f);
                }
                inner[f] = gate / (1 + Math.exp(-gate)) * up;
            }
            for (int h = 0; h < HIDDEN; h++) {
                for (int f = 0; f < INNER; f++) {
                    y[h] += scores[e] / taken * inner[f] * inputs.get(4).get((e * INNER + f) * HIDDEN + h);
                }
            }
        }
        return y;
    }

    @Test
    void moreExpertsThanThereAreAreRefused() {
        List<Shape> shapes =
                List.of(Shape.of(2, 3), Shape.of(2, 4), Shape.of(4, 3, 5), Shape.of(4, 3, 5), Shape.of(4, 5, 3));
        assertThat(new MixtureOfExperts(4, true, Unary.silu()).shapes(shapes)).containsExactly(Shape.of(2, 3));
        assertThatThrownBy(() -> new MixtureOfExperts(5, true, Unary.silu()).shapes(shapes))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("k is 5 of 4 experts");
        assertThatThrownBy(() -> new MixtureOfExperts(0, true, Unary.silu())).isInstanceOf(ShapeException.class);
    }
}
