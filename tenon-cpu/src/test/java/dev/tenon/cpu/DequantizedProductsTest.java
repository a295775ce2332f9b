package dev.tenon.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.testkit.DequantizedProducts;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DequantizedProductsTest {
    static List<DequantizedProducts> forms() {
        return DequantizedProducts.all();
    }

    @ParameterizedTest
    @MethodSource("forms")
    void constantWeightsStayPacked(DequantizedProducts form) {
        try (Engine engine = Engine.open(Target.cpu())) {
            List<StepReport> steps = form.check(engine);
            assertThat(steps).extracting(StepReport::op).containsExactly("scaled_mat_mul");
            assertThat(steps.getFirst().tier())
                    .isEqualTo(
                            form.dtype() == DType.F32
                                    ? "weights of " + form.q() + " decoded by panels, gemm"
                                    : "weights of " + form.q() + " decoded by rows in f64");
        }
    }

    @Test
    void weightThatIsWrittenOutSaysWhy() {
        try (Engine engine = Engine.open(Target.cpu())) {
            StepReport product = DequantizedProducts.checkRefused(engine).getLast();
            assertThat(product.passedOver())
                    .anyMatch(text -> text.startsWith("scaled_mat_mul: scales change with the summed index"));
        }
    }
}
