package dev.tenon.core.ir.op.signal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.math.BigDecimal;
import java.math.MathContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Parts of a turn against angles of 34 digits. */
class TurnsTest {
    private static final BigDecimal TWO_PI = new BigDecimal("6.283185307179586476925286766559005768");

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 8, 12, 97, 1024, 2 * 2209})
    void everyPartOfATurnIsRight(long whole) {
        for (long part = 0; part <= whole; part++) {
            BigDecimal angle =
                    TWO_PI.multiply(BigDecimal.valueOf(part)).divide(BigDecimal.valueOf(whole), MathContext.DECIMAL128);
            double near = angle.doubleValue();
            double rest = angle.subtract(new BigDecimal(near)).doubleValue();
            assertThat(Turns.cos(part, whole))
                    .as("cosine of %d / %d", part, whole)
                    .isEqualTo(Math.cos(near) - rest * Math.sin(near), within(0x1p-52));
            assertThat(Turns.sin(part, whole))
                    .as("sine of %d / %d", part, whole)
                    .isEqualTo(Math.sin(near) + rest * Math.cos(near), within(0x1p-52));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {4, 8, 1024})
    void quartersAreExact(long whole) {
        assertThat(Turns.cos(whole / 4, whole)).isZero();
        assertThat(Turns.sin(whole / 2, whole)).isZero();
        assertThat(Turns.sin(whole / 4 * 3, whole)).isEqualTo(-1);
    }
}
