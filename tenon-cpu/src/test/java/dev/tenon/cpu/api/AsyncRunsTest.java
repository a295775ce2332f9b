package dev.tenon.cpu.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AsyncRunsTest {
    private static CompiledModel doubling(Engine engine) {
        return engine.compile(GraphBuilder.build(
                "doubling", g -> g.output("y", g.mul(g.input("x", DType.F32, Dim.named("n")), 2))));
    }

    @Test
    void runsComeInTheOrderAskedFor() {
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = doubling(engine);
                Session session = model.newSession()) {
            AtomicInteger done = new AtomicInteger();
            List<CompletableFuture<Integer>> places = new ArrayList<>();
            for (int i = 1; i <= 50; i++) {
                int number = i;
                places.add(session.runAsync(Map.of("x", Tensor.of(new float[] {i}, 1)))
                        .thenApply(outputs -> {
                            assertThat(outputs.get("y").getFloat(0)).isEqualTo(2f * number);
                            return done.incrementAndGet();
                        }));
            }
            for (int i = 0; i < places.size(); i++) {
                assertThat(places.get(i).join()).isEqualTo(i + 1);
            }
        }
    }

    @Test
    void aFaultIsTheResultsAndTheNextRunGoesOn() {
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = doubling(engine)) {
            Session session = model.newSession();
            CompletableFuture<Map<String, Tensor>> wrong = session.runAsync(Map.of());
            CompletableFuture<Map<String, Tensor>> right = session.runAsync(Map.of("x", Tensor.of(new float[] {3}, 1)));
            assertThatThrownBy(wrong::join).hasCauseInstanceOf(InputException.class);
            assertThat(right.join().get("y").getFloat(0)).isEqualTo(6);
            session.close();
            assertThatThrownBy(session.runAsync(Map.of("x", Tensor.of(new float[] {3}, 1)))::join)
                    .hasCauseInstanceOf(ClosedException.class);
        }
    }

    @Test
    void whatIsCancelledBeforeItBeginsIsLeftOut() {
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = doubling(engine);
                Session session = model.newSession()) {
            List<CompletableFuture<Map<String, Tensor>>> runs = new ArrayList<>();
            Tensor large = Tensor.zeros(DType.F32, 1 << 22);
            for (int i = 0; i < 8; i++) {
                runs.add(session.runAsync(Map.of("x", large)));
            }
            CompletableFuture<Map<String, Tensor>> cancelled =
                    session.runAsync(Map.of("x", Tensor.of(new float[] {3, 4, 5}, 3)));
            assertThat(cancelled.cancel(false)).isTrue();
            CompletableFuture<Map<String, Tensor>> after = session.runAsync(Map.of("x", large));
            assertThat(after.join().get("y").shape().size(0)).isEqualTo(1 << 22);
            assertThat(runs).allMatch(CompletableFuture::isDone);
            assertThat(model.report().plans()).hasSize(1); // none for three elements
        }
    }
}
