package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.custom.Custom;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.OpCasesCustom.HalfAndWhole;
import dev.tenon.cuda.testkit.FaultyGpu;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Custom operations through the runtime: recorded, of named sizes, between others; and what their errors say. */
class CustomOpTest {
    private static final HalfAndWhole WHOLE = new HalfAndWhole(0.25f, true);
    private static final CompileOptions RECORDED = CompileOptions.defaults().withExecution(Execution.graph());

    @BeforeAll
    static void device() {
        Harness.require();
    }

    private static Graph graph(HalfAndWhole op) {
        return GraphBuilder.build("custom", g -> {
            Value x = g.input("x", new TensorType(DType.F32, Shape.of(Dim.named("n"))));
            Value positive = g.add("abs", Unary.of(UnaryFn.ABS), List.of(x)).getFirst();
            List<Value> both = g.add("halves", new Custom(op), List.of(positive));
            g.output(
                    "a",
                    g.add("neg", Unary.of(UnaryFn.NEG), List.of(both.get(0))).getFirst());
            g.output("b", both.get(1));
        });
    }

    private static Map<String, Tensor> input(double... x) {
        return Map.of("x", Tensor.of(DType.F32, x, x.length));
    }

    private static HalfAndWhole withSource(String from, String to) {
        String source = WHOLE.source().replace(from, to);
        assertThat(source).isNotEqualTo(WHOLE.source());
        return new HalfAndWhole(0.25f, true, true, source);
    }

    @Test
    void launchesAreRecordedForEachSize() {
        FaultyGpu gpu = new FaultyGpu(new EmulatorPlatform());
        try (Engine engine = Engine.open(gpu.backend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(graph(WHOLE), Weights.none(), RECORDED);
                Session session = model.newSession()) {
            for (int size = 3; size > 0; size--) { // memory that grows drops what was recorded
                double[] x = new double[size];
                java.util.Arrays.fill(x, -2 * size - 1);
                for (int run = 0; run < 3; run++) {
                    Map<String, Tensor> y = session.run(input(x));
                    assertThat(y.get("a").toDoubles()).hasSize(size).containsOnly(-(size + 0.5 + 0.25));
                    assertThat(y.get("b").toDoubles()).hasSize(size).containsOnly(2 * size + 1);
                }
            }
            assertThat(gpu.held()).as("a recording for each size").contains("ExecutableGraph=3");
            assertThat(session.run(input()).get("a").toDoubles()).isEmpty();
        }
    }

    @Test
    void reportNamesTheOperationItsSourceAndThatNothingFusedIntoIt() {
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(graph(WHOLE), Weights.none(), RECORDED)) {
            model.plan(Map.of("n", 5L));
            List<StepReport> steps = model.report().plans().getFirst().steps();
            assertThat(steps).extracting(StepReport::op).containsExactly("unary", "half_and_whole", "unary");
            assertThat(steps.get(1).tier()).isEqualTo("custom, half_and_whole.cu, 2 launches");
        }
    }

    @Test
    void withoutKernelsTheHostRunsBodyOrReference() {
        for (boolean body : new boolean[] {true, false}) {
            HalfAndWhole op = new HalfAndWhole(1, body, false, "");
            try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults());
                    CompiledModel model = engine.compile(graph(op), Weights.none(), RECORDED);
                    Session session = model.newSession()) {
                assertThat(session.run(input(-3, 5)).get("a").toDoubles()).containsExactly(-2.5, -3.5);
                StepReport step = model.report().plans().getFirst().steps().get(1);
                assertThat(step.tier()).startsWith("host");
                assertThat(step.passedOver())
                        .containsExactly("the definition of half_and_whole gives no CUDA body for these types");
            }
        }
    }

    @Test
    void reportedValueNamesTheNode() {
        Graph graph = GraphBuilder.build("negative", g -> {
            List<Value> both = g.add("halves", new Custom(WHOLE), List.of(g.input("x", DType.F32, 3)));
            g.output("a", both.get(0));
        });
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(graph, Weights.none(), RECORDED);
                Session session = model.newSession()) {
            for (int run = 0; run < 3; run++) {
                assertThatThrownBy(() -> session.run(input(1, -1, 2)))
                        .isInstanceOf(DataException.class)
                        .hasMessageContaining("half_and_whole: element 1 is negative")
                        .hasMessageContaining("halves");
            }
        }
    }

    private static void failsToCompile(HalfAndWhole op, Class<?> type, String... parts) {
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(graph(op), Weights.none(), RECORDED);
                Session session = model.newSession()) {
            assertThatThrownBy(() -> session.run(input(1, 2)))
                    .isInstanceOf(type)
                    .satisfies(e -> assertThat(e.getMessage()).contains(parts));
        }
    }

    @Test
    void sourceThatDoesNotCompileShowsItsLinesAndTheNode() {
        failsToCompile(
                withSource("half[i] = x[i] * FACTOR;", "half[i] = y[i] * FACTOR;"),
                NativeException.class,
                "half_and_whole.cu",
                "     6          half[i] = y[i] * FACTOR;",
                "halves");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "i64 n, void* faults | i32 n, void* faults | line 3: halve declares \"i32 n\" as parameter 2; the launch gives i64",
                "float shift, double grow | float shift | line 11: both has 5 parameters; the launch gives 6",
                "const float* x, float* half | float x, float* half | line 3: halve declares \"float x\" as parameter 0; the launch gives pointer",
                "TENON_ENTRY(both) | // TENON_ENTRY(both) | has no entry both; expected extern \"C\" __global__",
            })
    void launchIsComparedWithTheKernelsParameters(String from, String to, String message) {
        failsToCompile(
                withSource(from, to), InputException.class, "half_and_whole: half_and_whole.cu", message, "halves");
    }
}
