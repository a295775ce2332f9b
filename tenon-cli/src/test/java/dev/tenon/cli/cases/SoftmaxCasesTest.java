package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static dev.tenon.cli.cases.Cpu.sizes;
import static java.lang.Double.NEGATIVE_INFINITY;
import static java.lang.Double.NaN;
import static java.lang.Double.POSITIVE_INFINITY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class SoftmaxCasesTest {
    private static final int[] WIDTHS = {1, 2, 3, 5, 31, 32, 33, 63, 65, 127, 255, 257, 511, 513, 781, 1023, 1025, 4097
    };

    @Test
    @DisplayName("SM-01 infinities, NaN and large values keep to their rows")
    void rowsDoNotMix() {
        Tensor x = f32(
                sizes(6, 4),
                NEGATIVE_INFINITY,
                NEGATIVE_INFINITY,
                NEGATIVE_INFINITY,
                NEGATIVE_INFINITY,
                0,
                NEGATIVE_INFINITY,
                0,
                NEGATIVE_INFINITY,
                0,
                POSITIVE_INFINITY,
                0,
                0,
                NaN,
                0,
                0,
                0,
                1e4,
                1e4,
                -1e4,
                0,
                0,
                0,
                0,
                0);
        Cpu.check(
                new Softmax(1),
                List.of(x),
                y -> Cpu.exactly(
                        y,
                        sizes(6, 4),
                        NaN,
                        NaN,
                        NaN,
                        NaN,
                        0.5,
                        0,
                        0.5,
                        0,
                        NaN,
                        NaN,
                        NaN,
                        NaN,
                        NaN,
                        NaN,
                        NaN,
                        NaN,
                        0.5,
                        0.5,
                        0,
                        0,
                        0.25,
                        0.25,
                        0.25,
                        0.25));
        Tensor half = Tensor.of(DType.F16, new double[] {65504, 65504, 0, -65504}, 1, 4);
        Cpu.check(new Softmax(1), List.of(half), y -> Cpu.exactly(y, sizes(1, 4), 0.5, 0.5, 0, 0));
        Tensor column = f32(sizes(3, 1), 7, -1e30, NEGATIVE_INFINITY);
        Cpu.check(new Softmax(1), List.of(column), y -> Cpu.exactly(y, sizes(3, 1), 1, 1, NaN));
    }

    @Test
    @DisplayName("SM-01 log softmax of masked elements is -inf")
    void logSoftmax() {
        Tensor x = f32(sizes(1, 4), 0, NEGATIVE_INFINITY, 0, NEGATIVE_INFINITY);
        double ln2 = Math.log(2);
        Cpu.check(new LogSoftmax(1), List.of(x), y -> Cpu.close(y, -ln2, NEGATIVE_INFINITY, -ln2, NEGATIVE_INFINITY));
    }

    @ParameterizedTest(name = "SM-02 every width, {0}")
    @EnumSource(names = {"F32", "F64", "F16", "BF16"})
    @DisplayName("SM-02 every width, aligned, 4 bytes past alignment, narrowed, and down columns")
    void widths(DType dtype) {
        for (int n : WIDTHS) {
            Tensor x = rows(dtype, n, n);
            double[] expected = softmax(x, n);
            Tensor straight = one(Cpu.op(new Softmax(1)), x);
            check(straight, n, expected);
            Cpu.sameBits("shifted", one(Cpu.op(new Softmax(1)), Cpu.guarded(x, 4)), straight);
            Cpu.Body narrowed = (g, in) -> List.of(g.softmax(g.slice(in.getFirst(), 1, 1, n + 1), 1));
            check(one(narrowed, rows(dtype, n + 1, n)), n, expected);
            Cpu.Body columns = (g, in) -> List.of(g.transpose(g.softmax(g.transpose(in.getFirst(), 1, 0), 0), 1, 0));
            check(one(columns, x), n, expected);
        }
    }

    private static Tensor one(Cpu.Body body, Tensor x) {
        return Cpu.run(body, x).getFirst();
    }

    /** Three rows whose last {@code n} elements are ln(j + 1). */
    private static Tensor rows(DType dtype, int width, int n) {
        double[] values = new double[3 * width];
        for (int i = 0; i < values.length; i++) {
            int j = i % width - (width - n);
            values[i] = j < 0 ? 1e3 : Math.log(j + 1);
        }
        return Tensor.of(dtype, values, 3, width);
    }

    /** In f64, of the rounded inputs. */
    private static double[] softmax(Tensor x, int n) {
        double[] y = x.toDoubles();
        for (int row = 0; row < 3; row++) {
            double sum = 0;
            for (int i = row * n; i < (row + 1) * n; i++) {
                y[i] = Math.exp(y[i]);
                sum += y[i];
            }
            for (int i = row * n; i < (row + 1) * n; i++) {
                y[i] /= sum;
            }
        }
        return y;
    }

    private static void check(Tensor y, int n, double[] expected) {
        if (y.dtype() == DType.F16 || y.dtype() == DType.BF16) {
            Cpu.oneUlp(y, expected);
            return;
        }
        Cpu.within(y, y.dtype() == DType.F64 ? 1e-13 : 1e-5, y.dtype() == DType.F64 ? 1e-15 : 1e-10, expected);
        for (int row = 0; row < 3; row++) {
            double sum = 0;
            for (int j = 0; j < n; j++) {
                double exact = (j + 1) / (0.5 * n * (n + 1));
                double found = y.getDouble((long) row * n + j);
                assertThat(Math.abs(found - exact)).isLessThanOrEqualTo(1e-5 * exact);
                sum += found;
            }
            assertThat(sum).isBetween(1 - 1e-6, 1 + 1e-6);
        }
    }

    @Test
    @DisplayName("SM-04 one row of 2^25 + 1 columns")
    void longRow() {
        int n = (1 << 25) + 1;
        Tensor x = Tensor.zeros(DType.F32, 1, n);
        x.segment().set(ValueLayout.JAVA_FLOAT, 4L * (n - 1), 17.32868f);
        Tensor y = one(Cpu.op(new Softmax(1)), x);
        assertThat(y.getDouble(n - 1)).isBetween(0.5 * (1 - 1e-5), 0.5 * (1 + 1e-5));
        double each = 0x1p-26;
        for (long i = 0; i < n - 1; i++) {
            if (Math.abs(y.segment().get(ValueLayout.JAVA_FLOAT, 4 * i) - each) > 1e-5 * each) {
                assertThat(y.getDouble(i)).as("element %d", i).isEqualTo(each);
            }
        }
    }

    @Test
    @DisplayName("SM-04 an f16 row whose sum is more than f16 holds")
    void longHalfRow() {
        Tensor y = one(Cpu.op(new Softmax(1)), Tensor.zeros(DType.F16, 1, 70_000));
        Cpu.sameBits("1/70000", y, Cpu.filled(TensorType.of(DType.F16, 1, 70_000), 0x00F0 * 0x1p-24));
    }
}
