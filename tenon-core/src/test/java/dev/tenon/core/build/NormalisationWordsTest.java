package dev.tenon.core.build;

import static dev.tenon.core.build.WordRun.between;
import static dev.tenon.core.build.WordRun.check;
import static dev.tenon.core.build.WordRun.random;
import static dev.tenon.core.build.WordRun.run;
import static dev.tenon.core.build.WordRun.sizes;

import dev.tenon.core.ir.NdArray;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Softmax and norms against their formulas. */
class NormalisationWordsTest {
    private static final double EPSILON = 1e-3;

    /** (x - mean) / sqrt(variance + epsilon) of element {@code at} among {@code count} ones from {@code from} on. */
    private static double standard(NdArray x, int at, int from, int count) {
        double mean = IntStream.range(from, from + count)
                .mapToDouble(x::get)
                .average()
                .orElseThrow();
        double variance = IntStream.range(from, from + count)
                .mapToDouble(i -> (x.get(i) - mean) * (x.get(i) - mean))
                .average()
                .orElseThrow();
        return (x.get(at) - mean) / Math.sqrt(variance + EPSILON);
    }

    @Test
    void softmaxAlongAnAxisFromTheBack() {
        NdArray x = random(2, 3, 4);
        IntToDoubleFunction softmax = i -> {
            double sum = 0;
            for (int k = 0; k < 3; k++) {
                sum += Math.exp(x.get(i / 12 * 12 + k * 4 + i % 4));
            }
            return Math.exp(x.get(i)) / sum;
        };
        check(run((g, in) -> g.softmax(in.getFirst(), -2), x), sizes(2, 3, 4), softmax);
        check(
                run((g, in) -> g.logSoftmax(in.getFirst(), -2), x),
                sizes(2, 3, 4),
                i -> Math.log(softmax.applyAsDouble(i)));
    }

    @Test
    void layerNormOverTheLastAxisAndFromAnAxisOn() {
        NdArray x = random(2, 3, 4);
        NdArray scale = random(4);
        NdArray bias = between(-1, 1, 4);
        check(
                run((g, in) -> g.layerNorm(in.get(0), in.get(1), in.get(2), EPSILON), x, scale, bias),
                sizes(2, 3, 4),
                i -> standard(x, i, i / 4 * 4, 4) * scale.get(i % 4) + bias.get(i % 4));
        NdArray wide = random(3, 4);
        check(
                run((g, in) -> g.layerNorm(in.get(0), in.get(1), in.get(1), -2, EPSILON), x, wide),
                sizes(2, 3, 4),
                i -> standard(x, i, i / 12 * 12, 12) * wide.get(i % 12) + wide.get(i % 12));
    }

    private static double rms(NdArray x, int at, int from, int count) {
        double square = IntStream.range(from, from + count)
                .mapToDouble(i -> x.get(i) * x.get(i))
                .average()
                .orElseThrow();
        return x.get(at) / Math.sqrt(square + EPSILON);
    }

    @Test
    void rmsNormOverTheLastAxisAndFromAnAxisOn() {
        NdArray x = random(2, 3, 4);
        NdArray scale = random(4);
        NdArray wide = random(3, 4);
        check(
                run((g, in) -> g.rmsNorm(in.get(0), in.get(1), EPSILON), x, scale),
                sizes(2, 3, 4),
                i -> rms(x, i, i / 4 * 4, 4) * scale.get(i % 4));
        check(
                run((g, in) -> g.rmsNorm(in.get(0), in.get(1), -2, EPSILON), x, wide),
                sizes(2, 3, 4),
                i -> rms(x, i, i / 12 * 12, 12) * wide.get(i % 12));
    }

    @Test
    void batchNormByChannel() {
        NdArray x = random(2, 3, 4);
        NdArray scale = random(3);
        NdArray bias = between(-1, 1, 3);
        NdArray mean = between(0, 1, 3);
        NdArray variance = between(0.5, 2, 3);
        check(
                run(
                        (g, in) -> g.batchNorm(in.get(0), in.get(1), in.get(2), in.get(3), in.get(4), EPSILON),
                        x,
                        scale,
                        bias,
                        mean,
                        variance),
                sizes(2, 3, 4),
                i -> {
                    int c = i / 4 % 3;
                    return (x.get(i) - mean.get(c)) / Math.sqrt(variance.get(c) + EPSILON) * scale.get(c) + bias.get(c);
                });
    }

    @Test
    void groupAndInstanceNorm() {
        NdArray x = random(2, 4, 5);
        NdArray scale = random(4);
        NdArray bias = between(-1, 1, 4);
        check(
                run((g, in) -> g.groupNorm(in.get(0), in.get(1), in.get(2), 2, EPSILON), x, scale, bias),
                sizes(2, 4, 5),
                i -> standard(x, i, i / 10 * 10, 10) * scale.get(i / 5 % 4) + bias.get(i / 5 % 4));
        check(
                run((g, in) -> g.instanceNorm(in.get(0), in.get(1), in.get(2), EPSILON), x, scale, bias),
                sizes(2, 4, 5),
                i -> standard(x, i, i / 5 * 5, 5) * scale.get(i / 5 % 4) + bias.get(i / 5 % 4));
    }
}
