package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.Graph;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The network that the JVM sees while it writes an AOT cache. */
class TrainingRunTest {
    @Test
    void everyStepRunsOnTheCpuItself() {
        Graph graph = TrainingRun.network();
        Tensor x = Tensor.zeros(graph.inputs().getFirst().type());
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = engine.compile(graph);
                Session session = model.newSession()) {
            Map<String, Tensor> results = session.run(Map.of("x", x));
            assertThat(results.get("mask").type().shape().sizes()).containsExactly(1, 4, 256, 256);
            assertThat(results.get("pooled").type().shape().sizes()).containsExactly(1, 16, 64, 64);
            for (float each : results.get("mask").toFloats()) {
                assertThat(each).isBetween(0f, 1f);
            }
        }
    }
}
