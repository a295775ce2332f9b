package dev.tenon.core.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShapePolicyTest {
    @ParameterizedTest
    @CsvSource({"1, 8", "7, 8", "8, 8", "9, 16", "16, 16", "0, 0"})
    void sizeIsRoundedUpToTheNextMultiple(long size, long padded) {
        assertThat(ShapePolicy.multiplesOf(8).round(size, 512)).isEqualTo(padded);
    }

    @Test
    void exactLeavesEverySize() {
        for (long size : new long[] {0, 1, 7, 511, 512, 513}) {
            assertThat(ShapePolicy.exact().round(size, 512)).isEqualTo(size);
        }
    }

    @Test
    void paddingStopsAtTheLimit() {
        ShapePolicy policy = ShapePolicy.multiplesOf(64);
        assertThat(policy.round(65, 100)).isEqualTo(100);
        assertThat(policy.round(100, 100)).isEqualTo(100);
    }

    @Test
    void sizeBeyondTheLimitStaysAsItIs() {
        assertThat(ShapePolicy.multiplesOf(64).round(101, 100)).isEqualTo(101);
    }

    @Test
    void multipleThatOverflowsLeavesTheLimitOrTheSize() {
        ShapePolicy policy = ShapePolicy.multiplesOf(Long.MAX_VALUE - 1);
        assertThat(policy.round(5, 512)).isEqualTo(512);
        assertThat(policy.round(Long.MAX_VALUE, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void multipleBelowOneIsAnError(long multiple) {
        assertThatThrownBy(() -> ShapePolicy.multiplesOf(multiple))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("\"multiple\" is " + multiple);
    }

    @Test
    void negativeSizeIsAnError() {
        assertThatThrownBy(() -> ShapePolicy.multiplesOf(8).round(-3, 512))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("\"size\" is -3");
    }
}
