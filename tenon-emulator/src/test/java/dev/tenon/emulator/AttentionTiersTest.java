package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which kernel takes an attention. */
class AttentionTiersTest {
    private static final long TOKENS = 33;

    @Test
    void fewKeysMayHaveAMaskOfEachQuery() {
        Harness.require();
        assertThat(tier(1)).startsWith("attention_short").doesNotContain("each query");
        assertThat(tier(TOKENS)).startsWith("attention_short").contains("a mask each query");
    }

    /** With a cap, which other kernels do not take, and heads enough for blocks of 128 queries. */
    @Test
    void causalTilesOfManyQueriesWantMoreBlocks() {
        Harness.require();
        assertThat(longer(false)).startsWith("attention_mma").contains("128 queries a block");
        assertThat(longer(true)).startsWith("attention_mma").contains("64 queries a block");
    }

    private static String longer(boolean causal) {
        Graph graph = GraphBuilder.build("seen", g -> {
            Value x = g.input("x", TensorType.of(DType.F16, 1, 4, 200, 128));
            g.output(
                    "y",
                    g.addAll(new Attention(causal, 0, AttentionMask.NONE, 0.2, 5), List.of(x, x, x))
                            .getFirst());
        });
        return tier(graph);
    }

    /** @param queries that the mask differs by */
    private static String tier(long queries) {
        Graph graph = GraphBuilder.build("masked", g -> {
            Value x = g.input("x", TensorType.of(DType.F16, 1, TOKENS, 2, 32));
            Value mask = g.input("mask", TensorType.of(DType.F16, 1, 1, queries, TOKENS));
            g.output(
                    "y",
                    g.addAll(new PlainAttention(true, 0.2), List.of(x, x, x, mask))
                            .getFirst());
        });
        return tier(graph);
    }

    private static String tier(Graph graph) {
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        graph.inputs().forEach(input -> inputs.put(input.name(), Tensor.zeros(input.type())));
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(graph);
                Session session = model.newSession()) {
            session.run(inputs);
            List<StepReport> steps = model.report().plans().getFirst().steps();
            assertThat(steps).hasSize(1);
            return steps.getFirst().tier();
        }
    }
}
