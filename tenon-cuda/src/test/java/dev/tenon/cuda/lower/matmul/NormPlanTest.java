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
        return plan(DType.F16, m, n, k);
    }

    private static NormPlan plan(DType dtype, long m, long n, long k) {
        return Objects.requireNonNull(NormPlan.of(shape(m, n, k), dtype, true, H200));
    }

    private static String refusal(MatMulShape shape, DeviceProperties device, boolean specific, ProductForm form) {
        return GpuNormedProductLowering.answer(OP, DType.F16, shape, device, specific, form)
                        instanceof Answer.Refused(String reason)
                ? reason
                : "";
    }

    @Test
    void rowsAreWholeTilesOfAtMostEightBlocks() {
        for (long columns : new long[] {128, 384, 576, 768, 1536}) {
            assertThat(NormPlan.holds(DType.F16, columns)).isTrue();
            assertThat(NormPlan.holds(DType.F32, columns)).isTrue();
        }
        assertThat(NormPlan.holds(DType.BF16, 2048)).isTrue();
        for (long columns : new long[] {0, 320, 2304}) {
            assertThat(NormPlan.holds(DType.F16, columns)).isFalse();
        }
        assertThat(NormPlan.holds(DType.F32, 2048)).isFalse();
    }

    @Test
    void teamsShareTheDevice() {
        assertThat(plan(32768, 384, 1536).teams()).isEqualTo(66);
        NormPlan four = plan(32768, 768, 768);
        assertThat(four.blocks()).isEqualTo(4);
        assertThat(four.teams()).isEqualTo(33);
        assertThat(four.shape().gridX()).isEqualTo(132);
        assertThat(four.shape().cooperative()).isTrue();
        assertThat(four.workspaceBytes()).isEqualTo(33L * 2 * 4 * 128 * 8);
        assertThat(four.counterBytes()).isEqualTo(33L * 16);
        assertThat(plan(DType.F32, 32768, 768, 768).form().columns()).isEqualTo(192);
        NormPlan eight = plan(32768, 2048, 768);
        assertThat(eight.blocks()).isEqualTo(8);
        assertThat(eight.teams()).isEqualTo(16);
    }

    @Test
    void noMoreTeamsThanTiles() {
        NormPlan plan = plan(200, 768, 768);
        assertThat(plan.teams()).isEqualTo(2);
        assertThat(plan.shape().gridX()).isEqualTo(2 * plan.blocks());
    }

    @Test
    void sumsAreNoShorterThanWhatIsStoredBesideThem() {
        assertThat(plan(128, 576, 8).steps()).isEqualTo(6);
        assertThat(plan(128, 576, 1000).steps()).isEqualTo(16);
        assertThat(plan(DType.F32, 128, 192, 4).steps()).isBetween(7, 10);
        assertThat(plan(DType.F32, 128, 192, 1000).steps()).isEqualTo(32);
    }

    @Test
    void blocksFitSharedMemory() {
        for (RingTile form : NormPlan.FORMS) {
            assertThat(form.sharedBytes() + (8 << 10)).isLessThanOrEqualTo(H200.sharedBytesPerBlockOptIn());
        }
        assertThat(NormPlan.of(shape(4096, 384, 384), DType.F16, true, MatMulChoiceTest.device(8, 0)))
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
