package dev.tenon.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.ShapeProfile;
import dev.tenon.core.tensor.Tensor;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Closes and compiles that fail half way, at each level of the runtime, and are called again. */
class CloseTest {
    private static final Graph GRAPH = GraphBuilder.build("relu", g -> {
        Value x = g.input("x", DType.F32, Dim.named("n"));
        g.output("y", g.relu(x));
    });

    private final ReferenceBackend backend = new ReferenceBackend("reference-close");
    private final Engine engine = Engine.open(backend, 0, EngineOptions.defaults());

    @AfterEach
    void closeEngine() {
        engine.close();
        assertThat(backend.open()).isEmpty();
    }

    private static Map<String, Tensor> run(Session session) {
        return session.run(Map.of("x", Tensor.of(new float[] {-1, 2}, 2)));
    }

    @Test
    void sessionWhoseCloseFailedIsClosedToRunsAndClosesNext() {
        try (CompiledModel model = engine.compile(GRAPH)) {
            Session session = model.newSession();
            run(session);
            backend.failOnce("close state");
            assertThatThrownBy(session::close).isInstanceOf(NativeException.class);
            assertThatThrownBy(() -> run(session)).isInstanceOf(ClosedException.class);
            session.close();
            session.close();
            assertThat(backend.calls("close state"))
                    .as("the rehearsal's, the failed one, the one that worked")
                    .isGreaterThanOrEqualTo(2);
            assertThat(backend.open()).doesNotContainKey("state");
        }
    }

    @Test
    void modelWhoseSessionDoesNotCloseKeepsWhatTheSessionMayUse() {
        CompiledModel model = engine.compile(GRAPH);
        Session session = model.newSession();
        run(session);
        backend.failOnce("close state");
        assertThatThrownBy(model::close).isInstanceOf(NativeException.class).hasMessageContaining("close state");
        assertThat(backend.open()).containsKeys("state", "program", "constants");
        assertThatThrownBy(model::newSession).isInstanceOf(ClosedException.class);
        model.close();
        assertThat(backend.open()).containsOnlyKeys("device");
    }

    @ParameterizedTest
    @ValueSource(strings = {"program", "constants"})
    void modelCloseGoesOnWhereItFailed(String kind) {
        CompiledModel model = engine.compile(GRAPH);
        Session session = model.newSession();
        run(session);
        backend.failOnce("close " + kind);
        assertThatThrownBy(model::close).isInstanceOf(NativeException.class).hasMessageContaining(kind);
        assertThat(backend.open()).doesNotContainKey("state").containsKey(kind);
        model.close();
        model.close();
        assertThat(backend.open()).containsOnlyKeys("device");
    }

    @ParameterizedTest
    @ValueSource(strings = {"state", "program", "constants", "device"})
    void engineCloseGoesOnWhereItFailed(String kind) {
        for (int i = 0; i < 2; i++) {
            run(engine.compile(GRAPH).newSession());
        }
        backend.failOnce("close " + kind);
        assertThatThrownBy(engine::close).isInstanceOf(NativeException.class).hasMessageContaining(kind);
        assertThat(backend.open()).containsEntry(kind, 1).containsKey("device");
        assertThatThrownBy(() -> engine.compile(GRAPH)).isInstanceOf(ClosedException.class);
        engine.close();
        assertThat(backend.open()).isEmpty();
    }

    @Test
    void failedPlanAheadOfTimeLeavesNothing() {
        CompileOptions ahead =
                CompileOptions.defaults().withAheadOfTime(ShapeProfile.none().with("n", 1, 2, 3));
        backend.failOnce("compile");
        assertThatThrownBy(() -> engine.compile(GRAPH, ahead)).isInstanceOf(NativeException.class);
        assertThat(backend.open()).containsOnlyKeys("device");
        try (CompiledModel model = engine.compile(GRAPH, ahead)) {
            assertThat(model.report().plans()).hasSize(2);
        }
    }

    @Test
    void failedPlanAheadOfTimeThatDoesNotCloseIsClosedByTheEngine() {
        CompileOptions ahead =
                CompileOptions.defaults().withAheadOfTime(ShapeProfile.none().with("n", 1, 2, 3));
        backend.failOnce("compile");
        backend.failOnce("close constants");
        assertThatThrownBy(() -> engine.compile(GRAPH, ahead))
                .hasMessageContaining("compile")
                .satisfies(e -> assertThat(e.getSuppressed())
                        .extracting(Throwable::getMessage)
                        .containsExactly("planted: close constants"));
        assertThat(backend.open()).containsOnlyKeys("device", "constants");
        engine.close();
        assertThat(backend.open()).isEmpty();
    }

    @Test
    void runThatFailsLeavesTheSessionUsable() {
        try (CompiledModel model = engine.compile(GRAPH);
                Session session = model.newSession()) {
            backend.failOnce("run");
            assertThatThrownBy(() -> run(session)).isInstanceOf(NativeException.class);
            assertThat(run(session).get("y").toFloats()).containsExactly(0, 2);
        }
    }
}
