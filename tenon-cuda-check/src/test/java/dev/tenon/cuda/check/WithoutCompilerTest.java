package dev.tenon.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.testkit.ChildJvm;
import dev.tenon.cuda.compile.Prebuilt;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.testkit.RequiredGpus;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A model on a GPU with nothing that compiles kernels: PTX from the artifact tenon-cuda-ptx, where that is on the path.
 */
class WithoutCompilerTest {
    @ParameterizedTest
    @ValueSource(strings = {"nvrtc,nvcc", "nvrtc,nvcc,cublas,cublasLt"})
    void runsOnPrebuiltKernels(String hidden) throws Exception {
        RequiredGpus.device(0);
        String missing = Prebuilt.ptx().unavailable();
        if (!missing.isEmpty()) {
            System.out.println("GPU test of prebuilt kernels skipped: " + missing);
            Assumptions.abort(missing);
        }
        ChildJvm.Result result =
                ChildJvm.run(Running.class, Map.of("TENON_HIDE_LIBRARIES", hidden, "TENON_REGIONS", "compiled"));
        System.out.println(result.out().strip());
        assertThat(result.code()).as(result.out()).isZero();
        assertThat(result.out()).contains("compiler: prebuilt PTX (nvcc").doesNotContain("host:");
    }

    static final class Running {
        public static void main(String[] args) {
            System.out.println(
                    "compiler: " + GpuPlatforms.named("cuda").compiler().name());
            BackendModel model = new BackendModel();
            try (Engine runtime = Engine.open(Target.cuda(0))) {
                for (Execution execution : BackendChecks.EXECUTIONS) {
                    CompileOptions options = CompileOptions.defaults()
                            .withPrecision(Precision.STRICT)
                            .withExecution(execution);
                    try (CompiledModel compiled = runtime.compile(model.graph(), Weights.none(), options);
                            Session session = compiled.newSession()) {
                        for (int run = 0; run < 3; run++) {
                            for (long rows : new long[] {1, 33, 2000}) {
                                model.check(session.run(model.inputs(rows, run)), rows, run);
                            }
                        }
                        compiled.report().plans().getFirst().steps().forEach(Running::print);
                    }
                }
            }
        }

        private static void print(StepReport step) {
            System.out.println(step.op() + ": " + step.tier() + " " + step.passedOver());
        }
    }
}
