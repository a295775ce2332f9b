package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.control.If;
import dev.tenon.core.ir.op.control.Loop;
import dev.tenon.core.ir.op.control.Scan;
import dev.tenon.core.ir.op.control.ScanAxis;
import dev.tenon.core.ir.op.custom.Custom;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
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

/**
 * The plans of the bodies of a loop and a scan, and of a branch, are recorded like a model's: what lies between host
 * steps.
 */
class RecordedBodiesTest {
    private static final CompileOptions RECORDED = CompileOptions.defaults().withExecution(Execution.graph());
    private static final TensorType STATE = TensorType.of(DType.F32, 2);

    @BeforeAll
    static void device() {
        Harness.require();
    }

    /** state = state + step, or half of the step, which only the host knows. */
    private static Graph body(boolean hosted) {
        return GraphBuilder.build("body", g -> {
            g.input("i", TensorType.of(DType.I64));
            Value go = g.input("go", TensorType.of(DType.BOOL));
            Value state = g.input("state", STATE);
            Value step = g.input("step", STATE);
            g.output("go", go);
            g.output("state", g.add(state, hosted ? byHost(g, step) : step));
        });
    }

    /** An operation without a kernel. */
    private static Value byHost(GraphBuilder g, Value step) {
        return g.add("half", new Custom(new HalfAndWhole(0, true, false, "")), List.of(step))
                .getFirst();
    }

    private static Graph loop(boolean hosted) {
        return GraphBuilder.build("loop", g -> {
            Value times = g.input("times", TensorType.of(DType.I64));
            Value go = g.input("go", TensorType.of(DType.BOOL));
            Value state = g.input("state", STATE);
            Value step = g.input("step", STATE);
            g.output(
                    "y",
                    g.add("loop", new Loop(body(hosted), 1), List.of(times, go, state, step))
                            .getFirst());
        });
    }

    private static Map<String, Tensor> inputs(long times) {
        return Map.of(
                "times", Tensor.of(new long[] {times}),
                "go", Tensor.of(new boolean[] {true}),
                "state", Tensor.of(new float[] {1, 2}, 2),
                "step", Tensor.of(new float[] {0.5f, -1}, 2));
    }

    private static String afterOneRun(boolean hosted, CompileOptions options) {
        FaultyGpu gpu = new FaultyGpu(new EmulatorPlatform());
        try (Engine engine = Engine.open(gpu.backend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(loop(hosted), Weights.none(), options);
                Session session = model.newSession()) {
            assertThat(session.run(inputs(20)).get("y").toDoubles())
                    .containsExactly(hosted ? 6 : 11, hosted ? -8 : -18);
            return String.valueOf(gpu.held());
        }
    }

    @Test
    void bodyIsRecordedWithinOneRunOfTheModel() {
        assertThat(afterOneRun(false, RECORDED)).contains("ExecutableGraph=1");
        assertThat(afterOneRun(false, CompileOptions.defaults())).doesNotContain("ExecutableGraph");
    }

    @Test
    void bodyIsRecordedAroundAHostStep() {
        assertThat(afterOneRun(true, RECORDED)).contains("ExecutableGraph=1");
    }

    @Test
    void stretchesBetweenHostStepsAreRecorded() {
        Graph graph = GraphBuilder.build("stretches", g -> {
            Value x = g.input("x", DType.F32, Dim.of(1), Dim.of(2));
            Value table = g.constant(Tensor.of(new float[] {2, 0, 0, 2}, 2, 2));
            Value doubled = g.matmul(g.softmax(g.matmul(x, table), 1), table);
            Value halved = g.reshape(byHost(g, g.reshape(doubled, 2)), 1, 2);
            Value alone = g.matmul(halved, table);
            Value again = g.reshape(byHost(g, g.reshape(alone, 2)), 1, 2);
            g.output("y", g.softmax(g.matmul(again, table), 1));
        });
        FaultyGpu gpu = new FaultyGpu(new EmulatorPlatform());
        try (Engine engine = Engine.open(gpu.backend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(graph, Weights.none(), RECORDED);
                Session session = model.newSession()) {
            for (int run = 0; run < 5; run++) {
                float x = run - 2;
                double first = 1 / (1 + Math.exp(-2 * x));
                double expected = 1 / (1 + Math.exp(-2 * (2 * first - 1)));
                assertThat(session.run(Map.of("x", Tensor.of(new float[] {x, 0}, 1, 2)))
                                .get("y")
                                .toDoubles()[0])
                        .as("run %s", run)
                        .isCloseTo(expected, within(1e-5));
            }
            assertThat(gpu.held())
                    .as("before the first host step and behind the last; one step alone is not worth it")
                    .contains("ExecutableGraph=2");
        }
        assertThat(gpu.held()).isEmpty();
    }

    /** state = state + slice for each row; the states on the way as well. */
    private static Graph scan() {
        Graph body = GraphBuilder.build("body", g -> {
            Value state = g.input("state", STATE);
            Value next = g.add(state, g.input("slice", STATE));
            g.output("state", next);
            g.output("all", g.mul(next, g.scalar(DType.F32, 2)));
        });
        return GraphBuilder.build("scan", g -> {
            Value state = g.input("state", STATE);
            Value rows = g.input("rows", DType.F32, Dim.named("n"), Dim.of(2));
            ScanAxis forward = new ScanAxis(0, false);
            List<Value> results =
                    g.add("scan", new Scan(body, List.of(forward), List.of(forward)), List.of(state, rows));
            g.output("y", results.get(0));
            g.output("all", results.get(1));
        });
    }

    private static String afterOneScan(CompileOptions options) {
        FaultyGpu gpu = new FaultyGpu(new EmulatorPlatform());
        try (Engine engine = Engine.open(gpu.backend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(scan(), Weights.none(), options);
                Session session = model.newSession()) {
            float[] rows = new float[40];
            for (int i = 0; i < 20; i++) {
                rows[2 * i] = i;
                rows[2 * i + 1] = -1;
            }
            Map<String, Tensor> results =
                    session.run(Map.of("state", Tensor.of(new float[] {1, 2}, 2), "rows", Tensor.of(rows, 20, 2)));
            assertThat(results.get("y").toDoubles()).containsExactly(191, -18);
            assertThat(results.get("all").toDoubles())
                    .hasSize(40)
                    .startsWith(2, 2, 4, 0, 8, -2)
                    .endsWith(382, -36);
            return String.valueOf(gpu.held());
        }
    }

    @Test
    void bodyOfAScanIsRecordedWithinOneRunOfTheModel() {
        assertThat(afterOneScan(RECORDED)).contains("ExecutableGraph=");
    }

    @Test
    void bodyOfAScanRunsInAStreamUnrecorded() {
        assertThat(afterOneScan(CompileOptions.defaults())).doesNotContain("ExecutableGraph");
    }

    @Test
    void eachBranchTakenIsRecorded() {
        Graph add = branch(1);
        Graph subtract = branch(-1);
        Graph graph = GraphBuilder.build("if", g -> {
            Value condition = g.input("c", TensorType.of(DType.BOOL));
            Value x = g.input("x", DType.F32, Dim.of(2));
            g.output(
                    "y",
                    g.add("if", new If(add, subtract), List.of(condition, x)).getFirst());
        });
        FaultyGpu gpu = new FaultyGpu(new EmulatorPlatform());
        try (Engine engine = Engine.open(gpu.backend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(graph, Weights.none(), RECORDED);
                Session session = model.newSession()) {
            for (int run = 0; run < 6; run++) {
                boolean first = run % 2 == 0;
                Map<String, Tensor> inputs =
                        Map.of("c", Tensor.of(new boolean[] {first}), "x", Tensor.of(new float[] {1, 2}, 2));
                double by = first ? 1 : -1;
                assertThat(session.run(inputs).get("y").toDoubles()).containsExactly(1 + by, 2 + by);
            }
            assertThat(gpu.held())
                    .as("what comes before the branch, and both branches")
                    .contains("ExecutableGraph=3");
        }
    }

    private static Graph branch(double by) {
        return GraphBuilder.build("branch", g -> {
            Value x = g.input("x", DType.F32, Dim.of(2));
            g.output("y", g.add(x, g.scalar(DType.F32, by)));
        });
    }
}
