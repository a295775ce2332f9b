package dev.tenon.models.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PoolingTest {
    /** Three tokens of width 2, and one of padding. */
    private static final double[] HIDDEN = {1, -2, 4, 0, 7, -4, Double.NaN, 1e30};

    private static float[] pool(Pooling pooling, int from) {
        return pool(pooling, HIDDEN, from, 3);
    }

    /** Pools as an encoder does, padding included. */
    private static float[] pool(Pooling pooling, double[] hidden, int from, int to) {
        int tokens = hidden.length / 2;
        Graph model = GraphBuilder.build("model", g -> {
            g.input("input_ids", DType.I64, Dim.named("texts"), Dim.named("tokens"));
            g.output("hidden", g.input("hidden", DType.F32, Dim.named("texts"), Dim.named("tokens"), Dim.of(2)));
        });
        EncoderSetup setup =
                new EncoderSetup("hidden", List.of(pooling), true, List.of(), false, 512, false, "", false, List.of());
        Graph body = EncoderGraph.body(model, setup, null, true);
        float[] weights = new float[tokens];
        pooling.weigh(weights, from, to);
        double[] wide = new double[tokens];
        for (int i = 0; i < tokens; i++) {
            wide[i] = weights[i];
        }
        NdArray vectors = Interpreter.run(
                        body,
                        Map.of(
                                "input_ids",
                                NdArray.zeros(DType.I64, 1, tokens),
                                "hidden",
                                NdArray.of(TensorType.of(DType.F32, 1, tokens, 2), hidden),
                                EncoderGraph.WEIGHTS + 0,
                                NdArray.of(TensorType.of(DType.F32, 1, tokens), wide)))
                .get(EncoderGraph.VECTORS);
        return new float[] {(float) vectors.get(0), (float) vectors.get(1)};
    }

    @Test
    void eachModeGivesItsOwnVector() {
        assertThat(pool(Pooling.CLS, 0)).containsExactly(1, -2);
        assertThat(pool(Pooling.LAST_TOKEN, 0)).containsExactly(7, -4);
        assertThat(pool(Pooling.MAX, 0)).containsExactly(7, 0);
        assertThat(pool(Pooling.MEAN, 0)).containsExactly(new float[] {4, -2}, within(1e-6f));
        assertThat(pool(Pooling.MEAN_SQRT_LEN, 0))
                .containsExactly(new float[] {(float) (12 / Math.sqrt(3)), (float) (-6 / Math.sqrt(3))}, within(1e-6f));
        assertThat(pool(Pooling.WEIGHTED_MEAN, 0))
                .containsExactly(new float[] {(1 + 2 * 4 + 3 * 7) / 6f, (-2 + 3 * -4) / 6f}, within(1e-6f));
    }

    @Test
    void promptBeforeFromCountsOnlyForCls() {
        assertThat(pool(Pooling.CLS, 1)).containsExactly(1, -2);
        assertThat(pool(Pooling.MEAN, 1)).containsExactly(5.5f, -2);
        // positions keep their weights
        assertThat(pool(Pooling.WEIGHTED_MEAN, 1))
                .containsExactly(new float[] {(2 * 4 + 3 * 7) / 5f, (3 * -4) / 5f}, within(1e-6f));
        assertThat(pool(Pooling.LAST_TOKEN, 1)).containsExactly(7, -4);
    }

    @Test
    void nanIsNotLost() {
        double[] hidden = {1, 1, Double.NaN, 1};
        assertThat(pool(Pooling.MAX, hidden, 0, 2)).containsExactly(Float.NaN, 1);
        assertThat(pool(Pooling.MEAN, hidden, 0, 2)).containsExactly(Float.NaN, 1);
    }
}
