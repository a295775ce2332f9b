package dev.tenon.cuda.check;

import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.testkit.RequiredGpus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every kernel case on a GPU. */
class KernelCasesTest {
    @Test
    void everyCaseOnTheGpu() {
        RequiredGpus.device(0);
        GpuPlatform platform = GpuPlatforms.named("cuda");
        List<String> faults = new ArrayList<>();
        try (GpuContext context = platform.driver().open(0);
                KernelStage stage = new KernelStage(context, platform.compiler())) {
            for (KernelCase one : KernelCases.all()) {
                try {
                    stage.run(one);
                } catch (AssertionError e) {
                    faults.add(one + ": " + e.getMessage());
                }
            }
        }
        if (!faults.isEmpty()) {
            throw new AssertionError(faults.size() + " cases failed:\n" + String.join("\n", faults));
        }
    }
}
