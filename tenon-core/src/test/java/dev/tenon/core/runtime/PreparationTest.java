package dev.tenon.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.ShapeProfile;
import dev.tenon.core.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A graph that is prepared before a device is open. */
class PreparationTest {
    private static final Graph GRAPH = GraphBuilder.build("twice", g -> {
        Value x = g.input("x", DType.F32, Dim.named("n"));
        g.output("y", g.add(x, x));
    });

    private static Preparation prepared(ReferenceBackend backend) {
        return new Preparation(backend, GRAPH, Weights.none(), CompileOptions.defaults());
    }

    @Test
    void severalEnginesCompileOnePreparation() {
        ReferenceBackend backend = new ReferenceBackend("reference");
        Preparation preparation = prepared(backend);
        assertThat(backend.open()).as("preparing opens nothing").isEmpty();
        for (int i = 0; i < 2; i++) {
            try (Engine engine = Engine.open(backend, 0, EngineOptions.defaults());
                    CompiledModel model = engine.compile(preparation);
                    Session session = model.newSession()) {
                Map<String, Tensor> outputs = session.run(Map.of("x", Tensor.of(new float[] {1, 2}, 2)));
                assertThat(outputs.get("y").toFloats()).containsExactly(2, 4);
            }
        }
        assertThat(backend.open()).isEmpty();
    }

    @Test
    void shapesAheadOfTimeAreSpecialisedOnce() {
        ReferenceBackend backend = new ReferenceBackend("reference");
        List<String> specialised = new CopyOnWriteArrayList<>();
        CompileOptions options = CompileOptions.defaults()
                .withCompiler(new CompilerOptions(
                        true, Set.of(), true, Set.of("specialise"), (_, text) -> specialised.add(text)))
                .withAheadOfTime(ShapeProfile.none().withSizes(Map.of("n", 2L)).withSizes(Map.of("n", 3L)));
        Preparation preparation = new Preparation(backend, GRAPH, Weights.none(), options);
        preparation.planAhead();
        assertThat(specialised).as("before a device is open").hasSize(2);
        for (int engines = 1; engines <= 2; engines++) {
            try (Engine engine = Engine.open(backend, 0, EngineOptions.defaults());
                    CompiledModel model = engine.compile(preparation);
                    Session session = model.newSession()) {
                for (float[] x : new float[][] {{1, 2}, {1, 2, 3}}) {
                    Map<String, Tensor> outputs = session.run(Map.of("x", Tensor.of(x, x.length)));
                    assertThat(outputs.get("y").toFloats()[1]).isEqualTo(4);
                }
                assertThat(model.planMillis()).isEqualTo(model.report().planMillis());
                assertThat(specialised).as("the second engine plans for itself").hasSize(2 * engines);
            }
        }
    }

    @Test
    void anotherKindOfDeviceRefusesIt() {
        Preparation preparation = prepared(new ReferenceBackend("one"));
        ReferenceBackend other = new ReferenceBackend("other");
        try (Engine engine = Engine.open(other, 0, EngineOptions.defaults())) {
            assertThatThrownBy(() -> engine.compile(preparation))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("prepared for one");
        }
        assertThat(other.open()).isEmpty();
    }
}
