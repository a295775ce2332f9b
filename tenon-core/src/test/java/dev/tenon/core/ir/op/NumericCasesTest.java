package dev.tenon.core.ir.op;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the reference itself gives where norms and activations go wrong: values by hand. */
class NumericCasesTest {
    private static final double INF = Double.POSITIVE_INFINITY;

    private static double[] layerNorm(DType dtype, double... row) {
        NdArray x = NdArray.of(TensorType.of(dtype, 1, row.length), row);
        return new LayerNorm(1, 1e-5, false, false)
                .evaluate(List.of(x))
                .getFirst()
                .toDoubles();
    }

    @Test
    @DisplayName("LN-01 a large mean does not cancel, and a constant row is 0")
    void largeMean() {
        assertThat(layerNorm(DType.F32, 40_000, 40_001, 40_002, 40_003))
                .containsExactly(new double[] {-1.3416354, -0.4472118, 0.4472118, 1.3416354}, within(1e-7));
        double[] constant = new double[256];
        Arrays.fill(constant, 1234);
        assertThat(layerNorm(DType.F32, constant)).containsOnly(0);
    }

    @Test
    @DisplayName("LN-02 a mean that is no number of the type")
    void meanBetweenNumbers() {
        double[] x = new double[16];
        Arrays.setAll(x, i -> 10_000 + i * 0x1p-10);
        double[] y = layerNorm(DType.F32, x);
        assertThat(y[0]).isCloseTo(-1.3313334, within(1e-6));
        for (int i = 0; i < 16; i++) {
            assertThat(y[i]).isCloseTo(-y[15 - i], within(1e-9));
        }
        Arrays.setAll(x, i -> 0x1p43 + i * 0x1p-9);
        double root = Math.sqrt(21.25 * 0x1p-18 + 1e-5);
        assertThat(layerNorm(DType.F64, x)[0]).isCloseTo(-7.5 * 0x1p-9 / root, within(1e-12));
    }

    @ParameterizedTest
    @DisplayName("GE-01 activations of large numbers")
    @ValueSource(doubles = {-65504, -100, -40, 11, 40, 100, 65504})
    void largeArguments(double x) {
        for (UnaryFn fn : List.of(UnaryFn.GELU, UnaryFn.GELU_TANH)) {
            assertThat(run(Unary.of(fn), DType.F32, x)[0]).isCloseTo(Math.max(x, 0), within(1e-9));
        }
        assertThat(run(Unary.silu(), DType.F32, x)[0]).isCloseTo(x <= -40 ? 0 : x, within(2e-4));
        assertThat(run(Unary.of(UnaryFn.SIGMOID), DType.F32, x)[0]).isCloseTo(x > 0 ? 1 : 0, within(2e-5));
        assertThat(run(Unary.of(UnaryFn.TANH), DType.F32, x)[0]).isCloseTo(Math.signum(x), within(1e-9));
        assertThat(run(Unary.of(UnaryFn.SOFTPLUS), DType.F32, x)[0]).isCloseTo(Math.max(x, 0), within(2e-5));
    }

    @ParameterizedTest
    @DisplayName("GE-02 activations have their limits and keep their tails")
    @ValueSource(strings = {"F32", "F64"})
    void limitsAndTails(DType dtype) {
        double[] x = {-INF, INF, Double.NaN, -4, -6, -20};
        double[] gelu = run(Unary.of(UnaryFn.GELU), dtype, x);
        double[] tanh = run(Unary.of(UnaryFn.GELU_TANH), dtype, x);
        double[] silu = run(Unary.silu(), dtype, x);
        for (double[] y : List.of(
                gelu, tanh, silu, run(Unary.of(UnaryFn.MISH), dtype, x), run(Unary.of(UnaryFn.HARD_SWISH), dtype, x))) {
            assertThat(y[0]).isZero();
            assertThat(y[1]).isEqualTo(INF);
            assertThat(y[2]).isNaN();
        }
        assertThat(run(Unary.of(UnaryFn.SOFTSIGN), dtype, x)).startsWith(-1, 1);
        assertThat(run(new Unary(UnaryFn.LEAKY_RELU, 0, 0), dtype, x)).startsWith(-0.0, INF);
        assertThat(run(new Unary(UnaryFn.SILU, -1, 0), dtype, x)).startsWith(-INF, 0);
        assertThat(gelu[3]).isCloseTo(-1.2668497e-4, within(1e-7 * 1.3e-4));
        assertThat(gelu[4]).isCloseTo(-5.9195259e-9, within(1e-7 * 6e-9));
        assertThat(tanh[3]).isCloseTo(-7.0245948e-5, within(1e-7 * 7e-5));
        assertThat(tanh[4]).isCloseTo(-8.4396467e-11, within(1e-7 * 8e-11));
        assertThat(silu[5]).isCloseTo(-4.1223072e-8, within(1e-7 * 4e-8));
    }

    private static double[] run(Unary op, DType dtype, double... x) {
        return op.evaluate(List.of(NdArray.of(TensorType.of(dtype, x.length), x)))
                .getFirst()
                .toDoubles();
    }
}
