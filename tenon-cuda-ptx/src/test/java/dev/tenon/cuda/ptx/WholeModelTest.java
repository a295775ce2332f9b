package dev.tenon.cuda.ptx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** MiniLM with nothing that compiles kernels: every kernel is prebuilt, and what would be generated is interpreted. */
class WholeModelTest {
    private static final Path MODEL = Path.of("target/models/all-minilm-l6-v2.onnx");
    private static final Map<String, Tensor> INPUTS = Map.of(
            "input_ids", ids(101, 2023, 2003, 1037, 102, 101, 7592, 102, 0, 0),
            "attention_mask", ids(1, 1, 1, 1, 1, 1, 1, 1, 0, 0),
            "token_type_ids", ids(0, 0, 0, 0, 0, 0, 0, 0, 0, 0));

    /** What a run gave, and how. */
    private record Outcome(double[] values, List<StepReport> steps) {}

    private static Tensor ids(long... ids) {
        return Tensor.of(ids, 2, 5);
    }

    @BeforeAll
    static void there() {
        PtxTest.require();
        String missing = new PtxOnlyPlatform().driver().unavailable();
        Assumptions.assumeTrue(missing.isEmpty(), missing);
    }

    @Test
    void runsOnPrebuiltKernelsAlone() {
        Outcome wanted = run(Target.cpu());
        Outcome got = run(Target.parse(PtxOnlyPlatform.NAME));
        assertThat(got.values()).hasSize(wanted.values().length);
        for (int i = 0; i < got.values().length; i++) {
            assertThat(got.values()[i])
                    .as("element " + i)
                    .isCloseTo(wanted.values()[i], org.assertj.core.data.Offset.offset(1e-4));
        }
        assertThat(PtxOnlyPlatform.FOUND)
                .anyMatch(source -> source.startsWith("attention/attention"))
                .anyMatch(source -> source.startsWith("contraction/matmul"))
                .anyMatch(source -> source.startsWith("norm/embedding_norm.cu"))
                .anyMatch(source -> source.startsWith("norm/layernorm_short.cu"));
        assertThat(got.steps())
                .noneMatch(step -> step.tier().startsWith("host:"))
                .noneMatch(step -> step.tier().contains("elementwise_fused"));
        List<StepReport> refused = got.steps().stream()
                .filter(step -> step.passedOver().stream().anyMatch(reason -> reason.startsWith("elementwise_fused: ")))
                .toList();
        assertThat(refused)
                .isNotEmpty()
                .allMatch(step -> step.passedOver().getFirst().contains("is not in it, or has changed"));
    }

    private static Outcome run(Target target) {
        CompileOptions options = CompileOptions.defaults().withPrecision(Precision.STRICT);
        try (Engine runtime = Engine.open(target);
                CompiledModel model = runtime.compile(OnnxModel.load(MODEL).graph(), Weights.none(), options);
                Session session = model.newSession()) {
            Tensor output = session.run(INPUTS).values().iterator().next();
            double[] values = new double[Math.toIntExact(output.elements())];
            for (int i = 0; i < values.length; i++) {
                values[i] = output.getDouble(i);
            }
            return new Outcome(values, model.report().plans().getFirst().steps());
        }
    }
}
