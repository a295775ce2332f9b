package dev.tenon.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callers of one model. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallerLoadTest {
    private static final TensorType TYPE = TensorType.of(DType.F32, 256, 256);
    private static final Graph GRAPH = GraphBuilder.build("squares", g -> {
        Value x = g.input("x", TYPE);
        g.output("y", g.matmul(g.matmul(g.matmul(x, x), x), x));
    });

    @Test
    void whereThereIsMemoryForFewCallersTheOthersDoNotWait() throws InterruptedException {
        Map<String, Tensor> inputs = Map.of("x", Tensor.zeros(TYPE));
        long each;
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = engine.compile(GRAPH);
                Session session = model.newSession()) {
            session.run(inputs);
            each = session.bytes();
        }
        assertThat(each).isPositive();
        EngineOptions few = EngineOptions.defaults().withMemoryLimit(3 * each);
        try (Engine engine = Engine.open(Target.cpu(), few);
                CompiledModel model = engine.compile(GRAPH)) {
            for (int trial = 0; trial < 10; trial++) {
                assertThatThrownBy(() -> CallerLoad.run(model, inputs, 12, 0)).isInstanceOf(OutOfMemoryException.class);
            }
            assertThat(CallerLoad.run(model, inputs, 2, 0).micros()).hasSize(2);
        }
    }

    @Test
    void theTimeIsThatOfTheRuns() throws InterruptedException {
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = engine.compile(GRAPH)) {
            long before = System.nanoTime();
            CallerLoad.Times times = CallerLoad.run(model, Map.of("x", Tensor.zeros(TYPE)), 5, 1e-6);
            double seconds = (System.nanoTime() - before) / (double) TimeUnit.SECONDS.toNanos(1);
            assertThat(times.micros())
                    .hasSize(5)
                    .allSatisfy(micros -> assertThat(micros).isPositive());
            double longest = times.micros().stream()
                    .mapToDouble(Double::doubleValue)
                    .max()
                    .orElseThrow();
            assertThat(times.seconds())
                    .isGreaterThanOrEqualTo(longest / 1e6 * 0.999)
                    .isLessThan(seconds);
        }
    }
}
