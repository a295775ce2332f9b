package dev.tenon.emulator;

import dev.tenon.cuda.check.KernelCase;
import dev.tenon.cuda.check.KernelCases;
import dev.tenon.cuda.check.KernelStage;
import dev.tenon.cuda.compile.CachingCompiler;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.KernelCompiler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Every {@code STRIDE}th kernel case, checked; all of them with {@code -Dtenon.emulator.all=true} or by {@code tenon kernels run --device emulator}. */
class KernelCasesTest {
    private static final int STRIDE = 41;

    @Test
    void aSampleOfTheCases() {
        Harness.require();
        int stride = Boolean.getBoolean("tenon.emulator.all") ? 1 : STRIDE;
        List<KernelCase> cases =
                KernelCases.all().stream().filter(one -> !one.heavy()).toList();
        EmulatorOptions options = EmulatorOptions.of(Map.of()).withWorkers(2);
        EmulatorDriver driver = new EmulatorDriver(options);
        KernelCompiler compiler =
                new CachingCompiler(new EmulatorCompiler(true), KernelCache.standard(), driver::version);
        List<String> faults = new ArrayList<>();
        try (GpuContext context = driver.open(0);
                KernelStage stage = new KernelStage(context, compiler)) {
            for (int i = 0; i < cases.size(); i += stride) {
                try {
                    stage.run(cases.get(i));
                } catch (AssertionError e) {
                    faults.add(cases.get(i) + ": " + e.getMessage());
                }
            }
        }
        if (!faults.isEmpty()) {
            throw new AssertionError(faults.size() + " cases failed:\n" + String.join("\n", faults));
        }
    }
}
