package dev.tenon.cuda.ptx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.normalisation.EmbeddingNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a device runs whole, where no kernel was built ahead and nothing compiles one: the host runs its pieces. */
class HostedClaimsTest {
    @BeforeAll
    static void there() {
        PtxTest.require();
        String missing = new PtxOnlyPlatform().driver().unavailable();
        Assumptions.assumeTrue(missing.isEmpty(), missing);
    }

    private static Value ones(GraphBuilder g, long... sizes) {
        NdArray all = NdArray.zeros(DType.F16, sizes);
        for (int i = 0; i < all.size(); i++) {
            all.set(i, 1 + i % 3);
        }
        return g.constant(all.toConstant());
    }

    /** In f16, of which no kernel is built ahead for tests. */
    private static Graph graph() {
        return GraphBuilder.build("claims", g -> {
            Value x = g.input("x", TensorType.of(DType.F16, 2, 3, 2, 4));
            Value attended =
                    g.add("", new PlainAttention(false, 0.5), List.of(x, x, x)).getFirst();
            Value like = g.reshape(attended, 2, 3, 8);
            Value sum = g.add("", new ResidualNorm(true, false, 2, 1e-5), List.of(like, like, ones(g, 8), ones(g, 8)))
                    .getFirst();
            Value rows = g.constant(NdArray.of(TensorType.of(DType.I64, 2, 3), 0L, 1L, 2L, 3L, 2L, 1L)
                    .toConstant());
            Value embedded = g.add(
                            "",
                            new EmbeddingNorm(1, true, 1e-5),
                            List.of(ones(g, 4, 8), rows, sum, ones(g, 8), ones(g, 8)))
                    .getFirst();
            g.output("y", embedded);
        });
    }

    private static Tensor run(Target target, boolean hosted) {
        double[] values = IntStream.range(0, 48)
                .mapToDouble(i -> i * 7 % 11 * 0.125 - 0.5)
                .toArray();
        Tensor x = Tensor.of(DType.F16, values, 2, 3, 2, 4);
        try (Engine engine = Engine.open(target);
                CompiledModel model = engine.compile(graph());
                Session session = model.newSession()) {
            Tensor y = session.run(Map.of("x", x)).get("y");
            if (hosted) {
                assertThat(model.report().plans().getFirst().steps())
                        .filteredOn(step -> step.tier().startsWith("host"))
                        .extracting(step -> step.op())
                        .contains("plain_attention", "residual_norm");
            }
            return y;
        }
    }

    @Test
    void piecesRunOnTheHost() {
        Tensor wanted = run(Target.cpu(), false);
        Tensor got = run(Target.parse(PtxOnlyPlatform.NAME), true);
        for (int i = 0; i < wanted.elements(); i++) {
            assertThat(got.getDouble(i)).as("element " + i).isCloseTo(wanted.getDouble(i), within(2e-2));
        }
    }

    /** Kernels of row regions are compiled for each, so that none is built ahead: those of their parts run. */
    @Test
    void partsOfRowRegionsRunOnTheDevice() {
        Graph graph = GraphBuilder.build("rows", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 128, 384));
            Value before = g.unary(UnaryFn.SIGMOID, g.unary(UnaryFn.TANH, x));
            g.output("y", g.add(new LayerNorm(1, 1e-5, false, false), before));
        });
        double[] values = IntStream.range(0, 128 * 384)
                .mapToDouble(i -> i * 7 % 11 * 0.125 - 0.5)
                .toArray();
        Map<String, Tensor> x = Map.of("x", Tensor.of(DType.F32, values, 128, 384));
        try (Engine host = Engine.open(Target.cpu());
                Session wanted = host.compile(graph).newSession();
                Engine engine = Engine.open(Target.parse(PtxOnlyPlatform.NAME));
                CompiledModel model = engine.compile(graph);
                Session session = model.newSession()) {
            Tensor y = session.run(x).get("y");
            Tensor expected = wanted.run(x).get("y");
            for (int i = 0; i < y.elements(); i++) {
                assertThat(y.getDouble(i)).as("element " + i).isCloseTo(expected.getDouble(i), within(1e-4));
            }
            assertThat(model.report().plans().getFirst().steps())
                    .singleElement()
                    .satisfies(step -> assertThat(step.op()).isEqualTo("row_region"))
                    .satisfies(step -> assertThat(step.tier())
                            .startsWith("elementwise_region of 2 steps")
                            .contains("; layernorm_short"))
                    .satisfies(step -> assertThat(step.passedOver().getFirst()).startsWith("row_fused: "));
        }
    }
}
