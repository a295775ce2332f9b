package dev.tenon.cli.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.WeightType;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A difference is found where it arises. */
class ModelComparisonTest {
    private static final CompileOptions USUAL = CompileOptions.defaults();

    private static Graph model() {
        NdArray weight = NdArray.zeros(TensorType.of(DType.F32, 8, 8));
        for (int i = 0; i < weight.size(); i++) {
            weight.set(i, 1 / (3.0 + i));
        }
        return GraphBuilder.build("model", g -> {
            Value x = g.input("x", DType.F32, 4, 8);
            Value bounded = g.tanh(x);
            Value product = g.matmul(bounded, g.constant(weight.toConstant()));
            g.output("y", g.relu(product));
        });
    }

    private static Map<String, Tensor> inputs() {
        float[] values = new float[32];
        for (int i = 0; i < values.length; i++) {
            values[i] = (i % 7 - 3) / 2f;
        }
        return Map.of("x", Tensor.of(values, 4, 8));
    }

    private static List<ModelComparison.Compared> compared(CompileOptions told, CompileOptions ran) {
        try (Engine engine = Engine.open(Target.cpu())) {
            return new ModelComparison(model(), told, false).nodes(engine, ran, inputs(), _ -> {});
        }
    }

    @Test
    void roundingExplainsARunAsItWasAskedFor() {
        assertThat(compared(USUAL, USUAL))
                .hasSize(3)
                .allMatch(one -> one.difference().isSmall());
        CompileOptions half = USUAL.withWeightType(WeightType.BF16);
        assertThat(compared(half, half)).allMatch(one -> one.difference().isSmall());
    }

    @Test
    void coarserArithmeticThanAskedForIsFoundInTheProduct() {
        List<ModelComparison.Compared> all = compared(USUAL, USUAL.withWeightType(WeightType.BF16));
        assertThat(all.stream().filter(one -> !one.difference().isSmall()).toList())
                .isNotEmpty()
                .first()
                .satisfies(first -> assertThat(first.node().op().mnemonic()).isEqualTo("mat_mul"));
    }

    private static NdArray floats(double... values) {
        return NdArray.of(TensorType.of(DType.F32, values.length), values);
    }

    @Test
    void notANumberWhereANumberBelongsIsNeverSmall() {
        assertThat(Difference.of(floats(1, 2, 3), floats(1, Double.NaN, 3), 0, 1))
                .satisfies(one -> assertThat(one.isSmall()).isFalse())
                .satisfies(one -> assertThat(one.element()).isEqualTo(1));
        assertThat(Difference.of(floats(Double.NaN), floats(0), 0, 1).isSmall()).isFalse();
        assertThat(Difference.of(
                                floats(Double.NaN, Double.POSITIVE_INFINITY),
                                floats(Double.NaN, Double.POSITIVE_INFINITY),
                                0,
                                1)
                        .isSmall())
                .isTrue();
        assertThat(Difference.of(floats(Double.POSITIVE_INFINITY), floats(Double.NEGATIVE_INFINITY), 0, 1)
                        .isSmall())
                .isFalse();
    }

    @Test
    void integersAreExact() {
        NdArray expected = NdArray.ofLongs(1, 2);
        assertThat(Difference.of(expected, NdArray.ofLongs(1, 3), 0, 1).isSmall())
                .isFalse();
        assertThat(Difference.of(expected, NdArray.ofLongs(1, 2), 0, 1).isSmall())
                .isTrue();
    }

    @Test
    void emptyValuesAreEqual() {
        assertThat(Difference.of(floats(), floats(), 0, 1).isSmall()).isTrue();
    }
}
