package dev.tenon.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.WeightType;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.testkit.ClaimedGraphs;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClaimedGraphsTest {
    private static final int GRAPHS = 60;

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void compositesAgreeWithTheInterpreter(int threads) {
        CpuRun.useVectors();
        EngineOptions options = EngineOptions.defaults().withThreads(threads);
        try (Engine engine = Engine.open(Target.cpu(), options)) {
            Map<String, Integer> steps = ClaimedGraphs.check(engine, GRAPHS);
            assertThat(steps)
                    .as("this backend claims attention, and no norm")
                    .containsKeys("mat_mul", "plain_attention")
                    .doesNotContainKeys("residual_norm");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = WeightType.class,
            names = {"F16", "BF16"})
    void compositesOfShortWeightsAgreeWithTheInterpreter(WeightType weights) {
        CpuRun.useVectors();
        try (Engine engine = Engine.open(Target.cpu(), EngineOptions.defaults())) {
            assertThat(ClaimedGraphs.checkHalves(engine, GRAPHS, weights)).containsKeys("mat_mul", "plain_attention");
        }
    }
}
