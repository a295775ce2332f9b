package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Precision;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.RandomGraphs;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Every execution gives the same bits, case BP-01; a wait that is left out is found. {@code -Dtenon.modes.graphs=N}
 * draws N graphs, 60 by default.
 */
class ExecutionModesTest {
    private static final int GRAPHS = Integer.getInteger("tenon.modes.graphs", 60);
    private static final int RUNS = 3;
    private static final int PATIENCE = 40;
    private static final int ATTEMPTS = 3;
    private static final int UNSEEN = -1;

    private static final List<Execution> MODES = Stream.of(
                    "graph", "multi:1", "multi:2", "multi:4", "graph:2", "graph:4")
            .map(Execution::parse)
            .toList();

    /** Shared and dying values, a residual on the input, a result that nobody reads. */
    static final Graph SHARED = GraphBuilder.build("shared", g -> {
        Value x = g.input("x", DType.F32, Dim.of(2), Dim.of(2));
        Value a = g.unary(UnaryFn.RELU, x);
        g.output("a", a);
        g.output("b", g.add(a, g.scalar(DType.F32, 1)));
        g.output("c", g.mul(a, g.scalar(DType.F32, 2)));
        g.output("d", g.transpose(a, 1, 0));
        g.reduce(ReduceFn.SUM, a, true, 1);
        g.output("y", g.add(g.matmul(g.softmax(x, 1), g.transpose(x, 1, 0)), x));
    });

    @BeforeAll
    static void device() {
        Harness.require();
    }

    private static Engine open(WatchedGpu gpu) {
        return Engine.open(gpu.backend(), 0, EngineOptions.defaults());
    }

    private static CompileOptions options(boolean optimise) {
        CompileOptions defaults = CompileOptions.defaults().withPrecision(Precision.STRICT);
        return defaults.withCompiler(defaults.compiler().withOptimise(optimise));
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

    private static List<Map<String, Tensor>> run(
            Engine engine, Graph graph, CompileOptions options, List<Map<String, Tensor>> inputs) {
        List<Map<String, Tensor>> results = new ArrayList<>();
        try (CompiledModel model = engine.compile(graph, Weights.none(), options);
                Session session = model.newSession()) {
            inputs.forEach(each -> results.add(session.run(each)));
        }
        return results;
    }

    private static void expectSame(String what, Map<String, Tensor> expected, Map<String, Tensor> actual) {
        assertThat(actual).as(what).containsOnlyKeys(expected.keySet());
        expected.forEach((name, tensor) -> assertThat(bytes(actual.get(name)))
                .as("%s, output %s", what, name)
                .isEqualTo(bytes(tensor)));
    }

    private static byte[] bytes(Tensor tensor) {
        return MemorySegment.ofBuffer(tensor.segment().asByteBuffer()).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void everyExecutionGivesTheSameBits() {
        int streams = 0;
        WatchedGpu gpu = new WatchedGpu();
        try (Engine engine = open(gpu)) {
            for (int seed = 0; seed < GRAPHS; seed++) {
                Graph graph = RandomGraphs.graph(seed);
                CompileOptions options = options(seed % 3 == 0);
                List<Map<String, Tensor>> inputs = new ArrayList<>();
                for (int run = 0; run < RUNS; run++) {
                    inputs.add(inputs(graph, seed + 1000L * run));
                }
                List<Map<String, Tensor>> expected = run(engine, graph, options, inputs);
                for (Execution mode : MODES) {
                    gpu.drop(0);
                    List<Map<String, Tensor>> actual = run(engine, graph, options.withExecution(mode), inputs);
                    streams += gpu.waits() > 0 ? 1 : 0;
                    for (int run = 0; run < RUNS; run++) {
                        expectSame(mode + ", graph " + seed + ", run " + run, expected.get(run), actual.get(run));
                    }
                }
                if (seed % 3 == 0) {
                    List<Map<String, Tensor>> usual = run(engine, graph, CompileOptions.defaults(), inputs);
                    expectSame("eager, graph " + seed, usual.getFirst(), engine.eager(graph, inputs.getFirst()));
                }
            }
        }
        System.out.printf("executions: %d graphs, %d times on several streams%n", GRAPHS, streams);
        assertThat(streams).isGreaterThan(GRAPHS);
    }

    @Test
    void sharedBuffersAndResidualsAreRightOnStreams() {
        try (Engine engine = open(new WatchedGpu())) {
            for (Execution mode : MODES) {
                Tensor x = Tensor.of(new float[] {-1, 2, 3, -4}, 2, 2);
                List<Map<String, Tensor>> results = run(
                        engine,
                        SHARED,
                        options(false).withExecution(mode),
                        List.of(Map.of("x", x), Map.of("x", x), Map.of("x", x)));
                for (Map<String, Tensor> result : results) {
                    assertThat(result.get("a").toFloats()).containsExactly(0, 2, 3, 0);
                    assertThat(result.get("b").toFloats()).containsExactly(1, 3, 4, 1);
                    assertThat(result.get("c").toFloats()).containsExactly(0, 4, 6, 0);
                    assertThat(result.get("d").toFloats()).containsExactly(0, 3, 2, 0);
                    expectSame(mode.toString(), results.getFirst(), result);
                }
                assertThat(x.toFloats()).containsExactly(-1, 2, 3, -4);
            }
        }
    }

    /** Each wait of a schedule is left out in turn, at the run that enqueues it or the capture that records it. */
    @Test
    void everyWaitThatIsLeftOutIsFound() {
        List<Graph> graphs = new ArrayList<>(List.of(SHARED));
        for (int seed = 1; seed < 12; seed++) {
            graphs.add(RandomGraphs.graph(seed));
        }
        int found = 0;
        for (Graph graph : graphs) {
            for (Execution mode :
                    List.of(Execution.multiStream(3), Execution.multiStream(2).asGraph())) {
                int waits = drop(graph, mode, 0);
                for (int wait = 1; wait <= waits; wait++) {
                    assertThat(found(graph, mode, wait))
                            .as("wait %d of %s under %s", wait, graph.name(), mode)
                            .isTrue();
                    found++;
                }
            }
        }
        System.out.printf("executions: %d waits left out, all found%n", found);
        assertThat(found).isGreaterThan(50);
    }

    /** On a busy machine what a third stream writes may come in between, and hide one of the two accesses. */
    private static boolean found(Graph graph, Execution mode, int wait) {
        boolean found = false;
        for (int attempt = 0; attempt < ATTEMPTS && !found; attempt++) {
            found = drop(graph, mode, wait) != UNSEEN;
        }
        return found;
    }

    /** Runs once to warm up and once under watch; how many waits there were, or that the missing one went unseen. */
    private static int drop(Graph graph, Execution mode, int wait) {
        WatchedGpu gpu = new WatchedGpu();
        try (Engine engine = open(gpu);
                CompiledModel model =
                        engine.compile(graph, Weights.none(), options(false).withExecution(mode));
                Session session = model.newSession()) {
            Map<String, Tensor> inputs = inputs(graph, 3);
            if (mode.recorded()) {
                session.run(inputs); // the next one records
            }
            gpu.drop(wait);
            int[] waits = new int[1];
            Throwable failure = catchThrowable(() -> {
                session.run(inputs);
                waits[0] = gpu.waits();
                for (int again = 0; again < (wait == 0 ? 1 : PATIENCE); again++) {
                    Thread.sleep(again); // a stream that nothing waits for may not have begun yet
                    session.run(inputs);
                }
            });
            if (wait == 0) {
                assertThat(failure).isNull();
            } else if (failure == null) {
                return UNSEEN;
            } else {
                assertThat(failure)
                        .as("wait %d of %s under %s", wait, graph.name(), mode)
                        .isInstanceOf(TenonException.class);
                assertThat(failure instanceof CaptureException
                                || failure.toString().contains("race between streams"))
                        .as(failure.toString())
                        .isTrue();
            }
            return waits[0];
        }
    }
}
