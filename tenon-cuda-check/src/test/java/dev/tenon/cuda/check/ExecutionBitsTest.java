package dev.tenon.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.RandomGraphs;
import dev.tenon.cuda.testkit.RequiredGpus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Case BP-01 on a GPU: drawn graphs under every execution. {@code -Dtenon.modes.graphs=N} draws N of them. */
class ExecutionBitsTest {
    private static final int GRAPHS = Integer.getInteger("tenon.modes.graphs", 40);
    private static final int RUNS = 3;

    private static final List<String> MODES = List.of("stream", "graph", "multi:2", "multi:4", "graph:2", "graph:4");

    @BeforeAll
    static void device() {
        RequiredGpus.device(0);
    }

    @Test
    void everyExecutionGivesTheSameBits() {
        try (Engine engine = Engine.open(Target.cuda(0))) {
            for (int seed = 0; seed < GRAPHS; seed++) {
                Graph graph = RandomGraphs.graph(seed);
                settle(engine, graph, seed);
                List<Map<String, Tensor>> expected = List.of();
                for (String mode : MODES) {
                    List<Map<String, Tensor>> results = run(engine, graph, Execution.parse(mode), seed);
                    expected = expected.isEmpty() ? results : expected;
                    for (int run = 0; run < RUNS; run++) {
                        expectSame(mode + ", graph " + seed + ", run " + run, expected.get(run), results.get(run));
                    }
                }
                expectSame(
                        "eager, graph " + seed, usual(engine, graph, seed), engine.eager(graph, inputs(graph, seed)));
            }
        }
        System.out.printf("executions on a GPU: %d graphs under %s and eager%n", GRAPHS, MODES);
    }

    private static List<Map<String, Tensor>> run(Engine engine, Graph graph, Execution mode, int seed) {
        CompileOptions options = CompileOptions.defaults().withExecution(mode);
        options = options.withCompiler(options.compiler().withOptimise(seed % 3 == 0));
        List<Map<String, Tensor>> results = new ArrayList<>();
        try (CompiledModel model = engine.compile(graph, options);
                Session session = model.newSession()) {
            for (int run = 0; run < RUNS; run++) {
                results.add(session.run(inputs(graph, seed + 1000L * run)));
            }
        }
        return results;
    }

    /** Algorithms that are timed at rest give later plans other last digits: until none is left to time. */
    private static void settle(Engine engine, Graph graph, int seed) {
        Runnable plans = () -> {
            run(engine, graph, Execution.parse(MODES.getFirst()), seed);
            usual(engine, graph, seed);
        };
        plans.run();
        assertThat(engine.settle(plans, Duration.ofSeconds(30)))
                .as("algorithms of graph %d timed", seed)
                .isTrue();
    }

    /** What a model with the usual options gives: what {@link Engine#eager} must. */
    private static Map<String, Tensor> usual(Engine engine, Graph graph, int seed) {
        try (CompiledModel model = engine.compile(graph);
                Session session = model.newSession()) {
            return session.run(inputs(graph, seed));
        }
    }

    private static Map<String, Tensor> inputs(Graph graph, long seed) {
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        for (Map.Entry<String, NdArray> input : RandomGraphs.inputs(graph, seed).entrySet()) {
            NdArray array = input.getValue();
            inputs.put(
                    input.getKey(),
                    Tensor.of(DType.F32, array.toDoubles(), array.shape().sizes()));
        }
        return inputs;
    }

    private static void expectSame(String what, Map<String, Tensor> expected, Map<String, Tensor> actual) {
        expected.forEach((name, tensor) -> assertThat(
                        Objects.requireNonNull(actual.get(name)).segment().mismatch(tensor.segment()))
                .as("%s, output %s", what, name)
                .isEqualTo(-1));
    }
}
