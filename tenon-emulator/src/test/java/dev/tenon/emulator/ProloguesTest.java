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
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
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

/** The feed-forward half of a decoder's layer with one row: norm, gate and up, gated unit, down and residual. */
class ProloguesTest {
    private static final int HIDDEN = 512;
    private static final int INNER = 520;

    private final Seeded random = new Seeded(9);

    private Value product(GraphBuilder g, Value x, long columns, long depth, boolean alongK) {
        long[] sizes = alongK ? new long[] {columns, depth} : new long[] {depth, columns};
        Value weight = g.constant(random.floats(DType.F32, -0.125, 0.125, sizes).toConstant());
        return g.add(new MatMul(false, alongK, Epilogue.NONE), x, weight);
    }

    private Graph graph(boolean alongK) {
        return GraphBuilder.build("half a layer", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 1, 1, HIDDEN));
            Value scale = g.constant(random.floats(DType.F32, 0.5, 1.5, HIDDEN).toConstant());
            Value normed = g.add(new RmsNorm(2, 1e-5, true), x, scale);
            Value gate = g.add(Unary.silu(), product(g, normed, INNER, HIDDEN, alongK));
            Value unit = g.mul(gate, product(g, normed, INNER, HIDDEN, alongK));
            g.output("y", g.add(product(g, unit, HIDDEN, INNER, alongK), x));
        });
    }

    private void check(boolean alongK, String... operations) {
        Harness.require();
        Graph graph = graph(alongK);
        NdArray x = random.floats(DType.F32, -1, 1, 1, 1, HIDDEN);
        NdArray expected = Interpreter.run(graph, Map.of("x", x)).get("y");
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(graph);
                Session session = model.newSession()) {
            Map<String, Tensor> inputs = Map.of("x", Tensor.of(DType.F32, x.toDoubles(), 1, 1, HIDDEN));
            session.run(inputs);
            NdArray actual =
                    NdArray.of(expected.type(), session.run(inputs).get("y").toDoubles());
            Tolerance.of(DType.F32, 4L * INNER).check("a recorded run", expected, actual);
            List<StepReport> steps = model.report().plans().stream()
                    .flatMap(plan -> plan.steps().stream())
                    .toList();
            assertThat(steps).extracting(StepReport::op).containsExactly(operations);
        }
    }

    @Test
    void layersAcrossAreProductsAlone() {
        check(false, "prologue_mat_mul", "prologue_mat_mul");
    }

    @Test
    void gatedUnitsAlongStayALaunch() {
        check(true, "prologue_mat_mul", "gated_unit", "mat_mul");
    }
}
