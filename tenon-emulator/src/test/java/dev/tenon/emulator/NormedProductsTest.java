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
import dev.tenon.core.ir.op.normalisation.LayerNorm;
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

/** Products whose rows are normed, on a device without the kernel for that: part by part. */
class NormedProductsTest {
    private static final int ROWS = 1024;
    private static final int COLUMNS = 128;
    private static final int HIDDEN = 256;

    private final Seeded random = new Seeded(5);

    private Value constant(GraphBuilder g, long... sizes) {
        return g.constant(random.floats(DType.F16, -0.25, 0.25, sizes).toConstant());
    }

    private Value normed(GraphBuilder g, Value x, long depth, Value residual) {
        Value sum = g.add(g.add(g.matmul(x, constant(g, depth, COLUMNS)), constant(g, COLUMNS)), residual);
        return g.add(new LayerNorm(1, 1e-3, true, true), sum, constant(g, COLUMNS), constant(g, COLUMNS));
    }

    /** Two halves of an encoder's layer: the second product's residual is the first one's norm. */
    private Graph graph() {
        return GraphBuilder.build("layer", g -> {
            Value x = g.input("x", TensorType.of(DType.F16, ROWS, COLUMNS));
            Value first = normed(g, x, COLUMNS, x);
            g.output("y", normed(g, g.matmul(first, constant(g, COLUMNS, HIDDEN)), HIDDEN, first));
        });
    }

    @Test
    void partsRunInOneStepThatSaysWhy() {
        Harness.require();
        Graph graph = graph();
        NdArray x = random.floats(DType.F16, -1, 1, ROWS, COLUMNS);
        NdArray expected = Interpreter.run(graph, Map.of("x", x)).get("y");
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(graph);
                Session session = model.newSession()) {
            Map<String, Tensor> inputs = Map.of("x", Tensor.of(DType.F16, x.toDoubles(), ROWS, COLUMNS));
            session.run(inputs);
            NdArray actual = NdArray.of(
                    TensorType.of(DType.F16, ROWS, COLUMNS),
                    session.run(inputs).get("y").toDoubles());
            Tolerance once = Tolerance.of(DType.F16, HIDDEN);
            new Tolerance(2 * once.relative(), once.absolute() + 4 * once.relative())
                    .check("a recorded run", expected, actual);
            List<StepReport> steps = model.report().plans().stream()
                    .flatMap(plan -> plan.steps().stream())
                    .toList();
            assertThat(steps).extracting(StepReport::op).containsExactly("normed_mat_mul", "mat_mul", "normed_mat_mul");
            assertThat(steps.getFirst().passedOver()).anyMatch(reason -> reason.startsWith("matmul_norm: compute"));
            assertThat(steps.getFirst().tier()).contains("; layernorm");
        }
    }
}
