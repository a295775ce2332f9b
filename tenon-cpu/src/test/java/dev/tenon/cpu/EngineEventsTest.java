package dev.tenon.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.EngineEvent;
import dev.tenon.core.report.EngineListener;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an engine tells its listener and a flight recording. */
class EngineEventsTest {
    private static void run(EngineListener listener) {
        Graph graph = GraphBuilder.build("twice", g -> {
            Value x = g.input("x", new TensorType(DType.F32, Shape.of(Dim.named("n"))));
            g.output("y", g.add(x, x));
        });
        EngineOptions options = EngineOptions.defaults().withThreads(1).withListener(listener);
        try (Engine engine = Engine.open(Target.parse("cpu"), options);
                CompiledModel model =
                        engine.compile(graph, CompileOptions.defaults().withMaxPlans(1));
                Session session = model.newSession()) {
            for (float[] x : List.of(new float[3], new float[3], new float[4])) {
                session.run(Map.of("x", Tensor.of(x, x.length)));
            }
            assertThatThrownBy(() -> session.run(Map.of())).isInstanceOf(InputException.class);
        }
    }

    @Test
    void listenerIsToldInOrder() {
        List<EngineEvent> events = new ArrayList<>();
        run(events::add);
        assertThat(events)
                .extracting(event -> event.getClass().getSimpleName())
                .containsExactly("Planned", "Ran", "Ran", "Planned", "Evicted", "Ran", "Ran");
        assertThat(events).allSatisfy(event -> assertThat(event.model()).isEqualTo("twice"));
        EngineEvent.Planned planned = (EngineEvent.Planned) events.getFirst();
        assertThat(planned.inputs()).containsExactly("x: f32[3]");
        assertThat(planned.steps()).isEqualTo(1);
        assertThat(planned.hostSteps()).isZero();
        assertThat(planned.nanos()).isPositive();
        assertThat(((EngineEvent.Ran) events.get(1)).failed()).isFalse();
        assertThat(((EngineEvent.Ran) events.getLast()).failed()).isTrue();
    }

    @Test
    void failingListenerChangesNothing() {
        run(event -> {
            throw new IllegalStateException("a registry that is gone");
        });
    }

    @Test
    void flightRecordingHasThem(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("app.jfr");
        try (Recording recording = new Recording()) {
            recording.start();
            run(EngineListener.NONE);
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith("dev.tenon."))
                .filter(event -> event.getString("model").equals("twice"))
                .toList();
        assertThat(events)
                .extracting(event -> event.getEventType().getName())
                .containsExactlyInAnyOrder(
                        "dev.tenon.Plan",
                        "dev.tenon.Plan",
                        "dev.tenon.Eviction",
                        "dev.tenon.Run",
                        "dev.tenon.Run",
                        "dev.tenon.Run",
                        "dev.tenon.Run");
        assertThat(events).anySatisfy(event -> {
            assertThat(event.getEventType().getName()).isEqualTo("dev.tenon.Plan");
            assertThat(event.getString("inputs")).isEqualTo("x: f32[4]");
            assertThat(event.getDuration()).isPositive();
        });
    }
}
