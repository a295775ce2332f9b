package dev.tenon.cuda.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import dev.tenon.cuda.port.TensorMap.Element;
import dev.tenon.cuda.port.TensorMap.Swizzle;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Maps of windows that there cannot be are refused, naming the value and what it can be. */
class WindowMapTest {
    private static final List<Long> SIZES = List.of(64L, 14L, 15L, 2L);
    private static final List<Long> STRIDES = List.of(128L, 1792L, 26880L);

    private static WindowMap map(
            long address, List<Long> strides, List<Integer> before, List<Integer> steps, int channels, int positions) {
        return new WindowMap(
                Element.F16,
                address,
                SIZES,
                strides,
                before,
                List.of(-1, -1),
                steps,
                channels,
                positions,
                Swizzle.BYTES_128);
    }

    private static void refused(String message, Runnable map) {
        assertThatThrownBy(map::run)
                .isInstanceOf(InputException.class)
                .hasMessageStartingWith("map of windows: ")
                .hasMessageContaining(message);
    }

    @Test
    void mapsThatThereCannotBe() {
        List<Integer> one = List.of(1, 1);
        assertThat(map(256, STRIDES, one, one, 64, 128).positions()).isEqualTo(128);
        refused("0x108 is no multiple of 16", () -> map(0x108, STRIDES, one, one, 64, 128));
        refused("3 strides", () -> map(0, List.of(128L), one, one, 64, 128));
        refused("strides [128, 1792, 8]", () -> map(0, List.of(128L, 1792L, 8L), one, one, 64, 128));
        refused("below 2^40", () -> map(0, List.of(128L, 1792L, 1L << 40), one, one, 64, 128));
        refused("[128, 1] elements before", () -> map(0, STRIDES, List.of(128, 1), one, 64, 128));
        refused("steps [9, 1]", () -> map(0, STRIDES, one, List.of(9, 1), 64, 128));
        refused("72 channels", () -> map(0, STRIDES, one, one, 72, 128));
        refused("4 channels", () -> map(0, STRIDES, one, one, 4, 128));
        refused("1025 positions", () -> map(0, STRIDES, one, one, 64, 1025));
    }
}
