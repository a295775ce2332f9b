package dev.tenon.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.dnn.Dnn;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.testkit.RequiredGpus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Convolutions by cuDNN, against float64: every attribute, type and epilogue. Faults are gathered. */
@Tag("gpu")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConvLibraryTest {
    private GpuContext context;
    private KernelStage stage;
    private Dnn dnn;

    @BeforeAll
    void open() {
        RequiredGpus.device(0);
        GpuPlatform platform = GpuPlatforms.named("cuda");
        context = platform.driver().open(0);
        stage = new KernelStage(context, platform.compiler());
        dnn = Dnn.of(context);
    }

    @AfterAll
    void close() {
        if (context != null) {
            dnn.close();
            stage.close();
            context.close();
        }
    }

    @Test
    void drawnConvolutionsAgreeWithTheReference() {
        Assumptions.assumeTrue(dnn.unavailable().isEmpty(), dnn::unavailable);
        for (Precision precision : Precision.values()) {
            Map<String, Integer> tiers = new TreeMap<>();
            List<String> faults = new ArrayList<>();
            List<KernelCase> cases = ConvCases.all(
                    on -> new StepRun(on, Blas.none("not asked"), precision).with(dnn),
                    tier -> tiers.merge(tier.replaceAll("[,:] .*", ""), 1, Integer::sum));
            for (KernelCase one : cases) {
                try {
                    stage.run(one);
                } catch (AssertionError | TenonException e) {
                    faults.add(one + ": " + e.getMessage());
                }
            }
            System.out.println("convolutions, " + precision + ": " + tiers);
            assertThat(faults).isEmpty();
            assertThat(tiers.keySet()).anyMatch(tier -> tier.startsWith("2 cudnn"));
        }
    }
}
