package dev.tenon.core.build;

import static dev.tenon.core.build.WordRun.check;
import static dev.tenon.core.build.WordRun.random;
import static dev.tenon.core.build.WordRun.run;
import static dev.tenon.core.build.WordRun.sizes;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.NdArray;
import org.junit.jupiter.api.Test;

/** Matrix products and convolutions against loops over their definitions. */
class ContractionWordsTest {
    @Test
    void matmulBroadcastsTheAxesBefore() {
        NdArray a = random(2, 3, 4);
        NdArray b = random(4, 5);
        check(run((g, in) -> g.matmul(in.get(0), in.get(1)), a, b), sizes(2, 3, 5), i -> {
            double sum = 0;
            for (int k = 0; k < 4; k++) {
                sum += a.get(i / 5 * 4 + k) * b.get(k * 5 + i % 5);
            }
            return sum;
        });
    }

    @Test
    void einsumSumsByLetters() {
        NdArray a = random(2, 3, 4);
        NdArray b = random(2, 5, 4);
        check(run((g, in) -> g.einsum("bik,bjk->bij", in.get(0), in.get(1)), a, b), sizes(2, 3, 5), i -> {
            double sum = 0;
            for (int k = 0; k < 4; k++) {
                sum += a.get(i / 5 * 4 + k) * b.get((i / 15 * 5 + i % 5) * 4 + k);
            }
            return sum;
        });
    }

    /**
     * y[b,o,p,q] of a convolution with 2 groups, strides 2 and 1, padding 1 before and 2 after on the second dim,
     * dilation 2 there.
     */
    private static double conv(NdArray x, NdArray w, int i) {
        int columns = 6;
        int o = i / (2 * columns) % 4;
        int p = i / columns % 2;
        int q = i % columns;
        double sum = 0;
        for (int c = 0; c < 3; c++) {
            for (int r = 0; r < 3; r++) {
                for (int s = 0; s < 2; s++) {
                    int row = 2 * p + r;
                    int column = q - 1 + 2 * s;
                    if (column >= 0 && column < 5) {
                        int channel = o / 2 * 3 + c;
                        sum += x.get((channel * 5 + row) * 5 + column) * w.get(((o * 3 + c) * 3 + r) * 2 + s);
                    }
                }
            }
        }
        return sum;
    }

    private static ConvOptions grouped() {
        long[] before = {0, 1};
        long[] after = {0, 2};
        return ConvOptions.defaults()
                .withStrides(2, 1)
                .withPadding(before, after)
                .withDilations(1, 2)
                .withGroups(2);
    }

    @Test
    void convolutionIsItsSum() {
        NdArray x = random(1, 6, 5, 5);
        NdArray w = random(4, 3, 3, 2);
        NdArray bias = random(4);
        check(run((g, in) -> g.conv(in.get(0), in.get(1), grouped()), x, w), sizes(1, 4, 2, 6), i -> conv(x, w, i));
        check(
                run((g, in) -> g.conv(in.get(0), in.get(1), in.get(2), grouped()), x, w, bias),
                sizes(1, 4, 2, 6),
                i -> conv(x, w, i) + bias.get(i / 12));
    }

    @Test
    void oneNumberCountsForAllSpatialDims() {
        NdArray x = random(1, 1, 4, 4);
        NdArray w = random(1, 1, 2, 2);
        check(
                run(
                        (g, in) -> g.conv(
                                in.get(0), in.get(1), ConvOptions.defaults().withStrides(2)),
                        x,
                        w),
                sizes(1, 1, 2, 2),
                i -> {
                    int at = i / 2 * 8 + i % 2 * 2;
                    return x.get(at) * w.get(0)
                            + x.get(at + 1) * w.get(1)
                            + x.get(at + 4) * w.get(2)
                            + x.get(at + 5) * w.get(3);
                });
        assertThatThrownBy(() -> run(
                        (g, in) -> g.conv(
                                in.get(0), in.get(1), ConvOptions.defaults().withStrides(2, 2, 2)),
                        x,
                        w))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("conv: strides [2, 2, 2] has 3 elements; expected 2");
    }

    /** Each x[c,p] adds w[c,o,k] x[c,p] at 2 p - 1 + k, of the 2 (4 - 1) + 1 + 3 - 2 = 8 places. */
    private static double transposed(NdArray x, NdArray w, int i) {
        int o = i / 8;
        double sum = 0;
        for (int c = 0; c < 2; c++) {
            for (int p = 0; p < 4; p++) {
                int k = i % 8 - 2 * p + 1;
                sum += k >= 0 && k < 3 ? x.get(c * 4 + p) * w.get((c * 3 + o) * 3 + k) : 0;
            }
        }
        return sum;
    }

    @Test
    void transposedConvolutionIsItsSum() {
        NdArray x = random(1, 2, 4);
        NdArray w = random(2, 3, 3);
        NdArray bias = random(3);
        ConvOptions options =
                ConvOptions.defaults().withStrides(2).withPadding(1).withOutputPadding(1);
        check(
                run((g, in) -> g.convTranspose(in.get(0), in.get(1), options), x, w),
                sizes(1, 3, 8),
                i -> transposed(x, w, i));
        check(
                run((g, in) -> g.convTranspose(in.get(0), in.get(1), in.get(2), options), x, w, bias),
                sizes(1, 3, 8),
                i -> transposed(x, w, i) + bias.get(i / 8));
    }
}
