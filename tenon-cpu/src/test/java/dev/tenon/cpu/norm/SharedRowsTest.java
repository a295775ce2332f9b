package dev.tenon.cpu.norm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that all workers share, some so long that results go past the caches: the same bits for any number of them. */
class SharedRowsTest {
    private static final int SHORT = (1 << 18) + 5001;
    private static final int LONG = (8 << 20) + 77;
    private static final double EPSILON = 1e-5;

    private static NdArray same(Op op, NdArray... inputs) {
        NdArray one = OneNode.of(op, inputs).run().getFirst();
        for (int threads : new int[] {2, 5}) {
            NdArray several = OneNode.of(op, inputs).threads(threads).run().getFirst();
            for (int i = 0; i < one.size(); i++) {
                if (Double.compare(one.get(i), several.get(i)) != 0) {
                    throw new AssertionError(op + ", element " + i + ", " + threads + " threads");
                }
            }
        }
        return one;
    }

    private static NdArray rows(DType dtype, int rows, int size, double about) {
        NdArray x = new Seeded(size).floats(dtype, -1, 1, rows, size);
        for (int i = 0; i < x.size(); i++) {
            x.set(i, x.get(i) + about);
        }
        return x;
    }

    private static void check(NdArray x, NdArray y, int row, int size, double error, DoubleUnaryOperator wanted) {
        for (int i = row * size; i < (row + 1) * size; i += 1 + i % 97) {
            double expected = wanted.applyAsDouble(x.get(i));
            assertThat(y.get(i)).as("element " + i).isCloseTo(expected, within(error * (1 + Math.abs(expected))));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {SHORT, LONG})
    void norms(int size) {
        int rows = size == SHORT ? 3 : 1;
        for (double about : new double[] {0, 40}) {
            NdArray x = rows(DType.F32, rows, size, about);
            NdArray centred = same(new LayerNorm(1, EPSILON, false, false), x);
            NdArray raw = same(new RmsNorm(1, EPSILON, false), x);
            for (int row = 0; row < rows; row++) {
                double mean = 0;
                double squares = 0;
                for (int i = row * size; i < (row + 1) * size; i++) {
                    mean += x.get(i) / size;
                    squares += x.get(i) * x.get(i) / size;
                }
                double average = mean;
                double deviation = Math.sqrt(squares - mean * mean + EPSILON);
                double root = Math.sqrt(squares + EPSILON);
                check(x, centred, row, size, about == 0 ? 1e-6 : 2e-5, value -> (value - average) / deviation);
                check(x, raw, row, size, 1e-6, value -> value / root);
            }
        }
    }

    @Test
    void aRowWithoutANumberIsNotAnothers() {
        NdArray x = rows(DType.F32, 2, SHORT, 0);
        x.set(SHORT - 1, Double.NaN);
        for (Op op : List.of(
                new LayerNorm(1, EPSILON, false, false),
                new RmsNorm(1, EPSILON, false),
                new Softmax(1),
                new LogSoftmax(1))) {
            NdArray y = same(op, x);
            assertThat(y.get(0)).as(op.toString()).isNaN();
            assertThat(y.get(SHORT)).as(op.toString()).isFinite();
        }
    }

    @Test
    void parametersOfRowsAndOfChannels() {
        NdArray x = rows(DType.F16, 1, SHORT, 0);
        NdArray scale = new Seeded(3).floats(DType.F16, -1, 1, SHORT);
        NdArray bias = new Seeded(4).floats(DType.F16, -1, 1, SHORT);
        NdArray y = same(new LayerNorm(1, EPSILON, true, true), x, scale, bias);
        for (int i = 0; i < SHORT; i += 31_337) {
            double wanted = normed(x, 0, i) * scale.get(i) + bias.get(i);
            assertThat(y.get(i)).as("element " + i).isCloseTo(wanted, within(4e-3));
        }
        NdArray channels = new Seeded(5).floats(DType.F32, -1, 1, 1, 2, SHORT);
        NdArray two = new Seeded(6).floats(DType.F32, -1, 1, 2);
        NdArray z = same(new InstanceNorm(EPSILON), channels, two, two);
        for (int i = 0; i < 2 * SHORT; i += 31_337) {
            double wanted = (normed(channels, i / SHORT, i) + 1) * two.get(i / SHORT);
            assertThat(z.get(i)).as("element " + i).isCloseTo(wanted, within(1e-5));
        }
    }

    /** An element of a short row, less the row's mean and over its deviation. */
    private static double normed(NdArray x, int row, int element) {
        double sum = 0;
        double squares = 0;
        for (int i = row * SHORT; i < (row + 1) * SHORT; i++) {
            sum += x.get(i);
            squares += x.get(i) * x.get(i);
        }
        double mean = sum / SHORT;
        return (x.get(element) - mean) / Math.sqrt(squares / SHORT - mean * mean + EPSILON);
    }

    @ParameterizedTest
    @ValueSource(ints = {SHORT, LONG})
    void softmaxes(int size) {
        NdArray x = rows(DType.F32, 1, size, 0);
        double sum = 0;
        for (int i = 0; i < size; i++) {
            sum += Math.exp(x.get(i));
        }
        double total = sum;
        check(x, same(new LogSoftmax(1), x), 0, size, 1e-6, value -> value - Math.log(total));
        NdArray y = same(new Softmax(1), x);
        for (int i = 0; i < size; i += 101) {
            double wanted = Math.exp(x.get(i)) / total;
            assertThat(y.get(i)).as("element " + i).isCloseTo(wanted, within(1e-6 * wanted));
        }
    }
}
