package dev.tenon.core.ir.op.normalisation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.testkit.Seeded;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Norms where the one-pass formula fails. */
class NormalisationCasesTest {
    private static NdArray row(double... values) {
        return NdArray.of(TensorType.of(DType.F32, values.length), values);
    }

    @Test
    void layerNormOfALargeMean() {
        double[] y = new LayerNorm(0, 1e-5, false, false)
                .evaluate(List.of(row(40000, 40001, 40002, 40003)))
                .getFirst()
                .toDoubles();
        double[] expected = {-1.3416354, -0.4472118, 0.4472118, 1.3416354};
        for (int i = 0; i < expected.length; i++) {
            assertThat(y[i]).isCloseTo(expected[i], within(1e-7));
        }
    }

    @Test
    void layerNormOfAConstantIsExactlyTheBias() {
        double[] constant = new double[256];
        Arrays.fill(constant, 1234);
        NdArray x = NdArray.of(TensorType.of(DType.F32, 256), constant);
        assertThat(new LayerNorm(0, 1e-5, false, false)
                        .evaluate(List.of(x))
                        .getFirst()
                        .toDoubles())
                .containsOnly(0.0);
        assertThat(new LayerNorm(0, 1e-5, false, true)
                        .evaluate(List.of(x, row(0.25)))
                        .getFirst()
                        .toDoubles())
                .containsOnly(0.25);
    }

    @Test
    void groupNormOfOneGroupAChannelIsInstanceNorm() {
        Seeded random = new Seeded(9);
        NdArray x = random.array(DType.F32, 2, 3, 5);
        NdArray scale = random.array(DType.F32, 3);
        NdArray bias = random.array(DType.F32, 3);
        NdArray group =
                Interpreter.run(new GroupNorm(3, 1e-5), List.of(x, scale, bias)).getFirst();
        NdArray instance =
                new InstanceNorm(1e-5).evaluate(List.of(x, scale, bias)).getFirst();
        Tolerance.of(DType.F64, 5).check("group against instance", instance, group);
    }

    @Test
    void lpNormOfZerosIsZero() {
        NdArray zeros = NdArray.zeros(DType.F32, 2, 3);
        assertThat(Interpreter.run(new LpNorm(1, 2), List.of(zeros)).getFirst().toDoubles())
                .containsOnly(0.0);
    }

    @Test
    void localResponseNormOfOnes() {
        NdArray ones = NdArray.of(TensorType.of(DType.F32, 1, 3, 1), 1.0, 1, 1);
        // size 2 looks at the channel itself and the next one
        assertThat(new LocalResponseNorm(2, 1, 1, 1)
                        .evaluate(List.of(ones))
                        .getFirst()
                        .toDoubles())
                .containsExactly(0.5, 0.5, 1 / 1.5);
    }
}
