package dev.tenon.core.ir.op.normalisation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Softmax where it is delicate: infinities, NaN, widths of no power of two, sums past a short float's range. */
class SoftmaxCasesTest {
    private static final double NAN = Double.NaN;
    private static final double INF = Double.POSITIVE_INFINITY;

    private static double[] softmax(NdArray x) {
        return new Softmax(x.shape().rank() - 1).evaluate(List.of(x)).getFirst().toDoubles();
    }

    private static NdArray row(double... values) {
        return NdArray.of(TensorType.of(DType.F32, values.length), values);
    }

    @Test
    void rowsOfInfinitiesAndNanDoNotTouchTheirNeighbours() {
        NdArray x = NdArray.of(
                TensorType.of(DType.F32, 6, 4),
                -INF,
                -INF,
                -INF,
                -INF,
                0,
                -INF,
                0,
                -INF,
                0,
                INF,
                0,
                0,
                NAN,
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
        assertThat(softmax(x))
                .containsExactly(
                        NAN, NAN, NAN, NAN, 0.5, 0, 0.5, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0.5, 0.5, 0, 0,
                        0.25, 0.25, 0.25, 0.25);
    }

    @Test
    void shortFloatsDoNotOverflow() {
        assertThat(softmax(NdArray.of(TensorType.of(DType.F16, 4), 65504.0, 65504, 0, -65504)))
                .containsExactly(0.5, 0.5, 0, 0);
        double each = softmax(NdArray.zeros(DType.F16, 1, 70000))[0];
        assertThat(Elements.fromDouble(DType.F16, each)).isEqualTo(0x00F0);
    }

    @Test
    void oneColumn() {
        assertThat(softmax(NdArray.of(TensorType.of(DType.F32, 3, 1), 7, -1e30, -INF)))
                .containsExactly(1, 1, NAN);
    }

    @Test
    void logSoftmaxKeepsMinusInfinity() {
        assertThat(new LogSoftmax(0)
                        .evaluate(List.of(row(0, -INF, 0, -INF)))
                        .getFirst()
                        .toDoubles())
                .containsExactly(-Math.log(2), -INF, -Math.log(2), -INF);
    }

    @Test
    void probabilitiesOfLogarithms() {
        for (int n : new int[] {1, 2, 3, 5, 31, 33, 257, 781, 1025, 4097}) {
            double[] values = new double[n];
            for (int j = 0; j < n; j++) {
                values[j] = Math.log(j + 1);
            }
            double[] p = softmax(NdArray.of(TensorType.of(DType.F64, n), values));
            for (int j = 0; j < n; j++) {
                assertThat(p[j]).isCloseTo((j + 1) / (n * (n + 1.0) / 2), within(1e-15));
            }
        }
    }

    @Test
    void axisIsCheckedByTheRules() {
        assertThatThrownBy(() -> new Softmax(1).infer(List.of(TensorType.of(DType.F32, 3))))
                .isInstanceOf(ShapeException.class)
                .hasMessage("softmax: axis 1 is out of range for shape [3]; expected 0 to 0");
        assertThatThrownBy(() -> new Softmax(-1)).isInstanceOf(ShapeException.class);
    }
}
