package dev.tenon.core.ir;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Numbers as the bits of short types. */
class ElementsTest {
    /**
     * Just above or below the middle between two numbers of the type, nearer to it than f32 can tell: rounded to f32
     * first they would become ties, and fall to the even side.
     */
    @ParameterizedTest
    @CsvSource({
        "F16, 0x1.002p0, 0x1p-40, 3C01",
        "F16, 0x1.002p0, -0x1p-40, 3C00",
        "F16, 0x1.006p0, -0x1p-40, 3C01",
        "F16, 0x1p-25, 0x1p-60, 0001",
        "F16, 0x1p-25, -0x1p-60, 0000",
        "F16, 65520, -0x1p-30, 7BFF",
        "F16, 65520, 0, 7C00",
        "BF16, 0x1.01p0, 0x1p-40, 3F81",
        "BF16, 0x1.01p0, -0x1p-40, 3F80",
        "BF16, 0x1.03p0, -0x1p-40, 3F81",
        "BF16, 0x1.ffp127, -0x1p80, 7F7F",
        "BF16, 0x1.ffp127, 0, 7F80",
        "BF16, 0x1p-134, 0x1p-170, 0001",
        "BF16, 0x1p-134, 0, 0000"
    })
    void aDoubleIsRoundedOnce(DType dtype, double middle, double off, String bits) {
        double value = middle + off;
        assertThat(new BigDecimal(value)).isEqualByComparingTo(new BigDecimal(middle).add(new BigDecimal(off)));
        int expected = Integer.parseInt(bits, 16);
        assertThat(Elements.fromDouble(dtype, value)).isEqualTo(expected);
        assertThat(Elements.fromDouble(dtype, -value)).isEqualTo(expected | 0x8000);
    }

    /** Every pair of neighbours, from a little to either side of their middle and at it. */
    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F16", "BF16"})
    void everyMiddleIsRoundedOnce(DType dtype) {
        int infinity = dtype == DType.F16 ? 0x7C00 : 0x7F80;
        for (int bits = 0; bits < infinity - 1; bits++) {
            double low = Elements.toDouble(dtype, bits);
            double high = Elements.toDouble(dtype, bits + 1);
            double middle = (low + high) / 2;
            assertThat(Elements.fromDouble(dtype, Math.nextDown(middle))).isEqualTo(bits);
            assertThat(Elements.fromDouble(dtype, middle)).isEqualTo(bits + (bits & 1));
            assertThat(Elements.fromDouble(dtype, Math.nextUp(middle))).isEqualTo(bits + 1);
            assertThat(Elements.fromDouble(dtype, low)).isEqualTo(bits);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F16", "BF16"})
    void whatIsNoNumberStaysSo(DType dtype) {
        for (double value : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, -0.0}) {
            assertThat(Elements.toDouble(dtype, Elements.fromDouble(dtype, value)))
                    .isEqualTo((Double) value);
        }
        assertThat(Elements.toDouble(dtype, Elements.fromDouble(dtype, 1e300))).isInfinite();
        assertThat(Elements.toDouble(dtype, Elements.fromDouble(dtype, 4e-324))).isZero();
    }
}
