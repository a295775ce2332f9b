package dev.tenon.cli.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import java.util.Collections;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Nodes that the CUDA backend leaves to the CPU, on the emulator: operands that lie nowhere, and failures in the middle
 * of a run.
 */
class HostStepsTest {
    /** Padding of more dims than kernels walk. */
    private static final Pad PAD = new Pad(PadMode.CONSTANT, Collections.nCopies(9, 1L), Collections.nCopies(9, 0L));

    private static final Dim[] EMPTY = Stream.concat(Stream.of(Dim.of(0)), Collections.nCopies(8, Dim.of(1)).stream())
            .toArray(Dim[]::new);

    @BeforeAll
    static void device() {
        boolean there =
                Target.devices().stream().anyMatch(device -> device.backend().equals("emulator"));
        Assumptions.assumeTrue(there, () -> "emulator skipped: " + Target.unavailable());
    }

    private static Tensor only(Graph graph, Execution execution, Map<String, Tensor> inputs) {
        CompileOptions options = CompileOptions.defaults().withExecution(execution);
        options = options.withCompiler(options.compiler().withOptimise(false));
        try (Engine runtime = Engine.open(Target.parse("emulator"));
                CompiledModel model = runtime.compile(graph, Weights.none(), options);
                Session session = model.newSession()) {
            session.run(inputs);
            session.run(inputs);
            return session.run(inputs).get("y");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"stream", "graph", "multi:3", "graph:3"})
    void emptyInput(Execution execution) {
        Graph graph = GraphBuilder.build("empty", g -> g.output("y", g.add(PAD, g.input("x", DType.F32, EMPTY))));
        Tensor y = only(graph, execution, Map.of("x", Tensor.zeros(DType.F32, 0, 1, 1, 1, 1, 1, 1, 1, 1)));
        assertThat(y.toFloats()).hasSize(256).containsOnly(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"stream", "graph", "multi:3", "graph:3"})
    void emptyValueInBetween(Execution execution) {
        Graph graph = GraphBuilder.build("empty", g -> {
            var x = g.input("x", DType.F32, EMPTY);
            g.output("y", g.add(PAD, g.unary(UnaryFn.NEG, x)));
        });
        Tensor y = only(graph, execution, Map.of("x", Tensor.zeros(DType.F32, 0, 1, 1, 1, 1, 1, 1, 1, 1)));
        assertThat(y.toFloats()).hasSize(256).containsOnly(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"stream", "graph", "multi:3", "graph:3"})
    void packedElementsAreChosenOnTheHost(Execution execution) {
        Graph graph = GraphBuilder.build("packed", g -> {
            var x = g.input("x", DType.I4, Dim.of(3));
            var z = g.input("z", DType.I4, Dim.of(3));
            g.output("y", g.where(g.input("c", DType.BOOL, Dim.of(3)), x, z));
        });
        Map<String, Tensor> inputs = Map.of(
                "c", Tensor.of(new boolean[] {true, false, true}, 3),
                "x", Tensor.of(DType.I4, new double[] {1, 2, 3}, 3),
                "z", Tensor.of(DType.I4, new double[] {-4, -5, -6}, 3));
        assertThat(only(graph, execution, inputs).toDoubles()).containsExactly(1, -5, 3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"stream", "graph", "multi:3", "graph:3"})
    void failureLeavesNoFaultToTheNextRun(Execution execution) {
        Graph graph = GraphBuilder.build("scatter", g -> {
            var x = g.input("x", DType.F32, Dim.of(4));
            var from = g.input("from", DType.I64, Dim.of(2));
            var to = g.input("to", DType.I64, Dim.of(2));
            g.output("y", g.add(new ScatterElements(0, ScatterFn.ADD), x, to, g.gather(x, from, 0)));
        });
        Tensor x = Tensor.of(new float[] {1, 2, 3, 4}, 4);
        Tensor good = Tensor.of(new long[] {0, 1}, 2);
        try (Engine runtime = Engine.open(Target.parse("emulator"));
                CompiledModel model = runtime.compile(
                        graph, Weights.none(), CompileOptions.defaults().withExecution(execution));
                Session session = model.newSession()) {
            Map<String, Tensor> bad =
                    Map.of("x", x, "from", Tensor.of(new long[] {0, 9}, 2), "to", Tensor.of(new long[] {0, 7}, 2));
            assertThatThrownBy(() -> session.run(bad)).isInstanceOf(DataException.class);
            Tensor y = session.run(Map.of("x", x, "from", good, "to", good)).get("y");
            assertThat(y.toFloats()).containsExactly(2, 4, 3, 4);
        }
    }

    /** Case OM-01: constants are prepared once for the model, memory is one session's, and both go with them. */
    @Test
    void whatTheyHoldIsCountedAndGivenBack() {
        NdArray filled = NdArray.zeros(DType.I32, 48, 64); // of integers, whose products have no kernel
        for (int i = 0; i < filled.size(); i++) {
            filled.set(i, 1); // one number, which the CPU backend spreads out
        }
        Graph graph = GraphBuilder.build("host", g -> {
            var x = g.input("x", DType.I32, Dim.named("n"), Dim.of(48));
            var weights = g.constant(filled.toConstant());
            g.output("y", g.add(new MatMul(false, false, Epilogue.NONE), x, weights));
        });
        try (Engine runtime = Engine.open(Target.parse("emulator"))) {
            assertThat(runtime.memory().host()).isZero();
            try (CompiledModel model = runtime.compile(graph)) {
                long weights;
                try (Session first = model.newSession();
                        Session second = model.newSession()) {
                    first.run(Map.of("x", Tensor.zeros(DType.I32, 1, 48)));
                    assertThat(model.report().plans().getFirst().steps())
                            .anyMatch(step -> step.tier().startsWith("host:"));
                    long one = runtime.memory().host();
                    second.run(Map.of("x", Tensor.zeros(DType.I32, 1, 48)));
                    long two = runtime.memory().host();
                    assertThat(two).isGreaterThan(one);
                    weights = one - (two - one);
                    assertThat(weights).isPositive();
                    for (int n = 2; n < 20; n++) {
                        first.run(Map.of("x", Tensor.zeros(DType.I32, n, 48)));
                    }
                    assertThat(runtime.memory().total())
                            .isEqualTo(first.bytes()
                                    + second.bytes()
                                    + runtime.memory().weights());
                }
                assertThat(runtime.memory().host()).isEqualTo(weights);
            }
            assertThat(runtime.memory().host()).isZero();
            assertThat(runtime.memory().total()).isZero();
        }
    }
}
