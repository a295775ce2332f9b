package dev.tenon.core.ir.op.elementwise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ErrorFunction;
import dev.tenon.core.ir.fn.UnaryFn;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the elementwise functions mean where languages and devices differ. */
class ScalarFunctionsTest {
    private static final double NAN = Double.NaN;
    private static final double INF = Double.POSITIVE_INFINITY;

    private static long[] cast(DType to, double... values) {
        NdArray x = NdArray.of(TensorType.of(DType.F32, values.length), values);
        return new Cast(to, true).evaluate(List.of(x)).getFirst().toLongs();
    }

    private static double unary(UnaryFn fn, double x) {
        return Unary.of(fn).apply(x);
    }

    @Test
    void floatsToIntegersTruncateAndSaturate() {
        assertThat(cast(DType.I32, NAN, INF, -INF, 3e9, -3e9, 1.9, -1.9, 2147483520))
                .containsExactly(0, 2147483647, -2147483648, 2147483647, -2147483648, 1, -1, 2147483520);
        assertThat(cast(DType.U8, -1, 300, NAN, 255.9)).containsExactly(0, 255, 0, 255);
        assertThat(cast(DType.I8, 200, -200)).containsExactly(127, -128);
        assertThat(cast(DType.BOOL, NAN, 0, -0.0, 0.3)).containsExactly(1, 0, 0, 1);
    }

    @Test
    void shortestFloatsSaturateOrNot() {
        NdArray x = NdArray.of(TensorType.of(DType.F32, 3), 1000, -INF, NAN);
        assertThat(new Cast(DType.F8E4M3, true).evaluate(List.of(x)).getFirst().toDoubles())
                .containsExactly(448, -448, NAN);
        assertThat(new Cast(DType.F8E4M3, false).evaluate(List.of(x)).getFirst().toDoubles())
                .containsExactly(NAN, NAN, NAN);
    }

    @Test
    void inverseHyperbolicCosineHasNoValueBelowOne() {
        for (double x : new double[] {0.999, 0, -1, -2, -3e38, -INF}) {
            assertThat(unary(UnaryFn.ACOSH, x)).isNaN();
        }
    }

    @Test
    void roundsHalfToEven() {
        double[] x = {0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 8388609};
        double[] y = {0, 2, 2, -0.0, -2, -2, 0, 8388609};
        for (int i = 0; i < x.length; i++) {
            assertThat(unary(UnaryFn.ROUND, x[i])).isEqualTo(y[i]);
        }
    }

    @Test
    void castsToBfloat16RoundToNearestEven() {
        int[] from = {0x3E89CCD5, 0x3F808000, 0x3F818000, 0x7F800001, 0x7F7FFFFF, 0xFF800000, 0x00008001};
        long[] to = {0x3E8A, 0x3F80, 0x3F82, 0x7FC0, 0x7F80, 0xFF80, 0x0001};
        for (int i = 0; i < from.length; i++) {
            NdArray x = NdArray.of(TensorType.of(DType.F32, 1), (double) Float.intBitsToFloat(from[i]));
            double y =
                    new Cast(DType.BF16, true).evaluate(List.of(x)).getFirst().get(0);
            assertThat(Elements.fromDouble(DType.BF16, y)).isEqualTo(to[i]);
        }
    }

    @Test
    void integerDivision() {
        long[] a = {7, -7, 7, -7};
        long[] b = {3, 3, -3, -3};
        long[][] expected = {{2, -2, -2, 2}, {2, -3, -3, 2}, {1, 2, -2, -1}, {1, -1, 1, -1}};
        BinaryFn[] functions = {BinaryFn.DIV, BinaryFn.FLOOR_DIV, BinaryFn.MOD, BinaryFn.FMOD};
        for (int f = 0; f < functions.length; f++) {
            for (int i = 0; i < a.length; i++) {
                assertThat(functions[f].apply(DType.I32, a[i], b[i])).isEqualTo(expected[f][i]);
            }
            BinaryFn fn = functions[f];
            assertThatThrownBy(() -> fn.apply(DType.I32, 1, 0)).isInstanceOf(DataException.class);
        }
        NdArray least = NdArray.of(TensorType.of(DType.I32, 1), (long) Integer.MIN_VALUE);
        NdArray minusOne = NdArray.of(TensorType.of(DType.I32, 1), -1L);
        assertThat(new Binary(BinaryFn.DIV)
                        .evaluate(List.of(least, minusOne))
                        .getFirst()
                        .getLong(0))
                .isEqualTo(Integer.MIN_VALUE);
        assertThat(BinaryFn.MOD.apply(DType.I32, Integer.MIN_VALUE, -1)).isZero();
        assertThat(BinaryFn.FMOD.apply(-7.0, 3.0)).isEqualTo(-1);
        assertThat(BinaryFn.MOD.apply(-7.0, 3.0)).isEqualTo(2);
    }

    @Test
    void powersFollowIeee() {
        double[][] cases = {
            {-4, 2, 16},
            {-2, 3, -8},
            {-2, -1, -0.5},
            {0, 0, 1},
            {NAN, 0, 1},
            {1, NAN, 1},
            {-1, INF, 1},
            {-8, 1.0 / 3, NAN},
            {0, -1, INF},
            {-0.0, -1, -INF},
            {2, 0.5, Math.sqrt(2)}
        };
        for (double[] c : cases) {
            assertThat(BinaryFn.POW.apply(c[0], c[1])).isEqualTo(c[2], within(1e-15));
        }
        assertThat(BinaryFn.POW.apply(DType.I32, 2, 10)).isEqualTo(1024);
        assertThat(BinaryFn.POW.apply(DType.I32, 2, -1)).isZero();
        assertThat(BinaryFn.POW.apply(DType.I32, -1, -1)).isEqualTo(-1);
        assertThat(BinaryFn.POW.apply(DType.I32, 0, 0)).isEqualTo(1);
        assertThatThrownBy(() -> BinaryFn.POW.apply(DType.I32, 0, -1)).isInstanceOf(DataException.class);
    }

    @Test
    void activationsDoNotOverflow() {
        for (double x : new double[] {-100, -40, -13.24, -1, 0, 1, 11, 40, 100, 65504, -65504}) {
            for (UnaryFn fn : List.of(
                    UnaryFn.GELU, UnaryFn.GELU_TANH, UnaryFn.SIGMOID, UnaryFn.TANH, UnaryFn.SOFTPLUS, UnaryFn.MISH)) {
                assertThat(unary(fn, x)).as(fn + " of " + x).isFinite();
            }
            assertThat(Unary.silu().apply(x)).isFinite();
        }
        for (double x : new double[] {11, 40, 100, 65504}) {
            assertThat((float) unary(UnaryFn.GELU, x)).isEqualTo((float) x);
            assertThat((float) unary(UnaryFn.GELU_TANH, x)).isEqualTo((float) x);
        }
        assertThat(unary(UnaryFn.GELU, -65504)).isZero();
        assertThat(unary(UnaryFn.SIGMOID, -100)).isCloseTo(3.72e-44, within(1e-46));
        assertThat(unary(UnaryFn.SIGMOID, 100)).isEqualTo(1);
        assertThat(Unary.silu().apply(-100)).isCloseTo(-3.72e-42, within(1e-44));
        assertThat(unary(UnaryFn.TANH, 100)).isEqualTo(1);
        assertThat(unary(UnaryFn.SOFTPLUS, 100)).isEqualTo(100);
    }

    @Test
    void specialNumbersFollowIeee() {
        double[] x = {NAN, INF, -INF, 1, -0.0};
        double[] timesZero = {NAN, NAN, NAN, 0, -0.0};
        double[] minusSelf = {NAN, NAN, NAN, 0, 0};
        double[] overSelf = {NAN, NAN, NAN, 1, NAN};
        for (int i = 0; i < x.length; i++) {
            assertThat(BinaryFn.MUL.apply(x[i], 0.0)).isEqualTo((Double) timesZero[i]);
            assertThat(BinaryFn.SUB.apply(x[i], x[i])).isEqualTo((Double) minusSelf[i]);
            assertThat(BinaryFn.DIV.apply(x[i], x[i])).isEqualTo((Double) overSelf[i]);
            assertThat(CompareFn.EQ.test(x[i], x[i])).isEqualTo(i > 0);
            assertThat(BinaryFn.MAX.apply(x[i], x[i])).isEqualTo((Double) x[i]);
        }
        assertThat(BinaryFn.ADD.apply(-0.0, 0.0)).isEqualTo(0.0);
        assertThat(BinaryFn.SUB.apply(0.0, 0.0)).isEqualTo(0.0);
        assertThat(BinaryFn.MIN.apply(NAN, 1)).isNaN();
        assertThat(unary(UnaryFn.RELU, NAN)).isNaN();
        assertThat(new Unary(UnaryFn.CLIP, -1, 1).apply(NAN)).isNaN();
    }

    @Test
    void whereSelectsAndDoesNotMultiply() {
        NdArray condition = NdArray.of(TensorType.of(DType.BOOL, 2, 1), 1L, 0L);
        NdArray one = NdArray.of(TensorType.of(DType.F32), 1.0);
        NdArray other = NdArray.of(TensorType.of(DType.F32, 3), NAN, 2, INF);
        assertThat(new Where()
                        .evaluate(List.of(condition, one, other))
                        .getFirst()
                        .toDoubles())
                .containsExactly(1, 1, 1, NAN, 2, INF);
    }

    @Test
    void unsignedIntegersOfSixtyFourBits() {
        assertThat(BinaryFn.DIV.apply(DType.U64, -1L, 2)).isEqualTo(Long.MAX_VALUE);
        assertThat(BinaryFn.MAX.apply(DType.U64, -1L, 2)).isEqualTo(-1);
        assertThat(CompareFn.GT.test(DType.U64, -1L, 2)).isTrue();
        assertThat(BinaryFn.SHR.apply(DType.U64, -1L, 63)).isEqualTo(1);
    }

    @Test
    void shiftsByTheWidthOrMore() {
        assertThat(BinaryFn.SHL.apply(DType.I32, 1, 32)).isZero();
        assertThat(BinaryFn.SHR.apply(DType.I32, -5, 32)).isEqualTo(-1);
        assertThat(BinaryFn.SHR.apply(DType.I32, 5, 99)).isZero();
        assertThat(BinaryFn.SHR.apply(DType.I32, -5, 1)).isEqualTo(-3);
    }

    /** Against values to 17 digits (Abramowitz and Stegun's table, extended). */
    @Test
    void errorFunction() {
        double[][] table = {
            {0.1, 0.1124629160182849}, {0.5, 0.5204998778130465}, {1, 0.8427007929497149}, {1.5, 0.9661051464753108},
            {2, 0.9953222650189527}, {3, 0.9999779095030014}, {6, 1}, {1e-300, 1.1283791670955126e-300}
        };
        for (double[] pair : table) {
            assertThat(ErrorFunction.erf(pair[0])).isCloseTo(pair[1], within(2 * Math.ulp(pair[1])));
            assertThat(ErrorFunction.erf(-pair[0])).isEqualTo(-ErrorFunction.erf(pair[0]));
        }
        assertThat(ErrorFunction.erf(INF)).isEqualTo(1);
        assertThat(ErrorFunction.erf(NAN)).isNaN();
        assertThat(ErrorFunction.erfc(10)).isCloseTo(2.088487583762545e-45, within(1e-59));
        assertThat(ErrorFunction.erfc(NAN)).isNaN();
    }

    @Test
    void binaryLogarithmsOfPowersOfTwoAreExact() {
        for (int exponent = -1074; exponent < 1024; exponent++) {
            assertThat(unary(UnaryFn.LOG2, Math.scalb(1.0, exponent))).isEqualTo(exponent);
        }
    }
}
