package dev.tenon.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.error.TenonException;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.dnn.Dnn;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.testkit.RequiredGpus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Attention by cuDNN where it takes it, against float64. Faults are gathered. */
@Tag("gpu")
class AttentionLibraryTest {
    @Test
    void attentionAgreesWithTheReference() {
        RequiredGpus.device(0);
        GpuPlatform platform = GpuPlatforms.named("cuda");
        List<String> faults = new ArrayList<>();
        try (GpuContext context = platform.driver().open(0);
                Dnn dnn = Dnn.of(context);
                KernelStage stage = new KernelStage(context, platform.compiler())) {
            Assumptions.assumeTrue(dnn.unavailable().isEmpty(), dnn::unavailable);
            for (KernelCase one : AttentionCases.all(
                    (on, precision) -> new StepRun(on, Blas.none("not asked"), precision).with(dnn))) {
                try {
                    stage.run(one);
                } catch (AssertionError | TenonException e) {
                    faults.add(one + ": " + e.getMessage());
                }
            }
        }
        assertThat(faults).isEmpty();
    }
}
