package dev.tenon.core.ir.op.signal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.testkit.Seeded;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fast transform against the sums that it stands for. */
class DftTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 6, 7, 9, 16, 31, 32, 33, 100, 127, 128, 1000, 1021, 1024})
    void isTheSumOfItsDefinition(int length) {
        NdArray x = new Seeded(length).array(DType.F64, length, 2);
        Offset<Double> near = Offset.offset(1e-11 * length);
        for (boolean inverse : List.of(false, true)) {
            NdArray y = new Dft(0, length, inverse, false).evaluate(List.of(x)).getFirst();
            double sign = inverse ? 1 : -1;
            for (int k = 0; k < length; k++) {
                double re = 0;
                double im = 0;
                for (int j = 0; j < length; j++) {
                    double angle = sign * 2 * Math.PI * ((long) j * k % length) / length;
                    re += x.get(2 * j) * Math.cos(angle) - x.get(2 * j + 1) * Math.sin(angle);
                    im += x.get(2 * j) * Math.sin(angle) + x.get(2 * j + 1) * Math.cos(angle);
                }
                double scale = inverse ? 1.0 / length : 1;
                assertThat(y.get(2 * k)).isCloseTo(re * scale, near);
                assertThat(y.get(2 * k + 1)).isCloseTo(im * scale, near);
            }
        }
    }

    /** A prime and a power of two, where the convolution inside is a million elements long. */
    @ParameterizedTest
    @ValueSource(ints = {262_139, 262_144})
    void longSignalsComeBack(int length) {
        NdArray x = new Seeded(1).array(DType.F64, length, 1);
        NdArray half = new Dft(0, length, false, true).evaluate(List.of(x)).getFirst();
        NdArray back = new Dft(0, length, true, true).evaluate(List.of(half)).getFirst();
        assertThat(half.shape().sizes()).containsExactly(length / 2 + 1, 2);
        for (int i = 0; i < length; i++) {
            assertThat(back.get(i)).isCloseTo(x.get(i), Offset.offset(1e-11));
        }
    }

    @Test
    void theLastAxisHoldsTheParts() {
        NdArray x = NdArray.zeros(DType.F32, 4, 3);
        assertThatThrownBy(() -> new Dft(0, 4, false, false).evaluate(List.of(x)))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("has 3 parts; expected 1 (real) or 2 (complex)");
        assertThatThrownBy(() -> new Dft(1, 4, false, false).evaluate(List.of(NdArray.zeros(DType.F32, 4, 2))))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("expected 0 to 0");
        assertThatThrownBy(() -> new Dft(0, 0, false, false)).isInstanceOf(ShapeException.class);
    }
}
