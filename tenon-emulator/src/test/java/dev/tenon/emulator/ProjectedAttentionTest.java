package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.Seeded;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A product with the attention of its heads, on a device without the kernel for that: part by part. */
class ProjectedAttentionTest {
    private static final int SEQUENCES = 12;
    private static final int TOKENS = 90;
    private static final int HEADS = 1;
    private static final int SIZE = 32;
    private static final int HIDDEN = HEADS * SIZE;

    private final Seeded random = new Seeded(5);

    private Value constant(GraphBuilder g, long... sizes) {
        return g.constant(random.floats(DType.F16, -0.25, 0.25, sizes).toConstant());
    }

    private Graph graph() {
        return GraphBuilder.build("heads", g -> {
            Value x = g.input("x", TensorType.of(DType.F16, SEQUENCES, TOKENS, HIDDEN));
            Value product = g.add(g.matmul(x, constant(g, HIDDEN, 3 * HIDDEN)), constant(g, 3 * HIDDEN));
            Value parts = g.reshape(product, SEQUENCES, TOKENS, 3, HEADS, SIZE);
            Value mask = constant(g, SEQUENCES, 1, 1, TOKENS);
            g.output(
                    "y",
                    g.add("", new PlainAttention(true, true, 0.2, false), List.of(parts, mask))
                            .getFirst());
        });
    }

    @Test
    void partsRunInOneStepThatSaysWhy() {
        Harness.require();
        Graph graph = graph();
        NdArray x = random.floats(DType.F16, -1, 1, SEQUENCES, TOKENS, HIDDEN);
        NdArray expected = Interpreter.run(graph, Map.of("x", x)).get("y");
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(graph);
                Session session = model.newSession()) {
            Map<String, Tensor> inputs = Map.of("x", Tensor.of(DType.F16, x.toDoubles(), SEQUENCES, TOKENS, HIDDEN));
            session.run(inputs);
            NdArray actual =
                    NdArray.of(expected.type(), session.run(inputs).get("y").toDoubles());
            Tolerance once = Tolerance.of(DType.F16, HIDDEN + TOKENS);
            // weights are rounded, and so are q, k and v
            new Tolerance(2 * once.relative(), once.absolute() + Tolerance.epsilon(DType.F16))
                    .check("a recorded run", expected, actual);
            List<StepReport> steps = model.report().plans().stream()
                    .flatMap(plan -> plan.steps().stream())
                    .toList();
            assertThat(steps).extracting(StepReport::op).containsExactly("projected_attention");
            assertThat(steps.getFirst().passedOver())
                    .anyMatch(reason -> reason.startsWith("matmul_attention: compute"));
            assertThat(steps.getFirst().tier()).contains("; attention_short");
        }
    }
}
