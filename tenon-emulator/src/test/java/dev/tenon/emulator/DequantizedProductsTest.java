package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.testkit.DequantizedProducts;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class DequantizedProductsTest {
    @Test
    void constantWeightsStayPacked() {
        Harness.require();
        Set<String> kernels = new TreeSet<>();
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults())) {
            for (DequantizedProducts form : DequantizedProducts.all()) {
                List<StepReport> steps = form.check(engine);
                assertThat(steps).extracting(StepReport::op).containsExactly("scaled_mat_mul");
                assertThat(steps.getFirst().onHost()).isFalse();
                kernels.add(steps.getFirst().tier().split(" ", 2)[0]);
            }
        }
        assertThat(kernels).containsExactly("scaled_gemv", "scaled_matmul", "scaled_matmul_mma");
    }

    @Test
    void weightThatIsWrittenOutSaysWhy() {
        Harness.require();
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults())) {
            StepReport product = DequantizedProducts.checkRefused(engine).getLast();
            assertThat(product.passedOver())
                    .anyMatch(text -> text.startsWith("0q quantised: scales change with the summed index"));
        }
    }
}
