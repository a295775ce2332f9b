package dev.tenon.cuda.lower.matmul;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.matmul.GpuNormedProductLowering.Answer;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.DeviceProperties;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class NormPlanTest {
    private static final DeviceProperties H200 = MatMulChoiceTest.device(9, 0);
    private static final NormedMatMul OP =
            new NormedMatMul(new MatMul(false, false, new Epilogue(true, null, true, false)), true, 1e-12);

    private static MatMulShape shape(long m, long n, long k) {
        return MatMulShape.of(Shape.of(m, k), Shape.of(k, n), false, false);
    }

    private static NormPlan plan(long m, long n, long k) {
        return Objects.requireNonNull(NormPlan.of(shape(m, n, k), DType.F16, true, H200, NormPlan.MOST_BLOCKS));
    }

    private static String refusal(MatMulShape shape, DeviceProperties device, boolean specific, ProductForm form) {
        return GpuNormedProductLowering.answer(OP, DType.F16, shape, device, specific, form)
                        instanceof Answer.Refused(String reason)
                ? reason
                : "";
    }

    @Test
    void rowsAreWholeTilesOfAtMostEightBlocks() {
        assertThat(NormPlan.holds(384, NormPlan.MOST_BLOCKS)).isTrue();
        assertThat(NormPlan.holds(576, NormPlan.MOST_BLOCKS)).isTrue();
        assertThat(NormPlan.holds(2048, NormPlan.MOST_BLOCKS)).isTrue();
        assertThat(NormPlan.holds(0, NormPlan.MOST_BLOCKS)).isFalse();
        assertThat(NormPlan.holds(320, NormPlan.MOST_BLOCKS)).isFalse();
        assertThat(NormPlan.holds(2304, NormPlan.MOST_BLOCKS)).isFalse();
    }

    @Test
    void clustersStayWithinGroupsOfMultiprocessors() {
        assertThat(plan(32768, 384, 1536).clusters()).isEqualTo(66);
        NormPlan four = plan(32768, 768, 768);
        assertThat(four.cluster()).isEqualTo(4);
        assertThat(four.clusters()).isEqualTo(32);
        NormPlan eight = plan(32768, 2048, 768);
        assertThat(eight.cluster()).isEqualTo(8);
        assertThat(eight.clusters()).isEqualTo(16);
    }

    @Test
    void noMoreClustersThanTiles() {
        NormPlan plan = plan(200, 768, 768);
        assertThat(plan.clusters()).isEqualTo(2);
        assertThat(plan.shape(66).gridX()).isEqualTo(2 * plan.cluster());
        assertThat(plan.shape(0).gridX()).isEqualTo(plan.cluster());
    }

    @Test
    void sumsAreNoShorterThanWhatIsStoredBesideThem() {
        assertThat(plan(128, 256, 8).steps()).isBetween(3, 5);
        assertThat(plan(128, 576, 8).steps()).isEqualTo(4);
        assertThat(plan(128, 576, 1000).steps()).isEqualTo(16);
    }

    @Test
    void blocksFitSharedMemory() {
        for (RingTile form : NormPlan.FORMS) {
            assertThat(form.sharedBytes() + (20 << 10)).isLessThanOrEqualTo(H200.sharedBytesPerBlockOptIn());
        }
        assertThat(NormPlan.of(
                        shape(4096, 384, 384), DType.F16, true, MatMulChoiceTest.device(8, 0), NormPlan.MOST_BLOCKS))
                .isNull();
    }

    @Test
    void refusalsNameTheReason() {
        MatMulShape shape = shape(32768, 384, 1536);
        assertThat(refusal(shape, H200, true, ProductForm.BY_CHOICE)).isEmpty();
        assertThat(refusal(shape, H200, false, ProductForm.BY_CHOICE)).isEqualTo("no compiler for sm_90a");
        assertThat(refusal(shape, H200, true, ProductForm.PLAIN)).isEqualTo("other products are asked for");
        assertThat(refusal(shape, MatMulChoiceTest.device(8, 0), true, ProductForm.BY_CHOICE))
                .contains("is not 9.0");
        assertThat(refusal(shape(1024, 384, 384), H200, true, ProductForm.BY_CHOICE))
                .contains("us by the model");
        assertThat(refusal(shape(1024, 384, 384), H200, true, ProductForm.RING)).isEmpty();
    }
}
