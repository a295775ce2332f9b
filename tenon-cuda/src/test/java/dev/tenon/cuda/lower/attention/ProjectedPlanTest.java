package dev.tenon.cuda.lower.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProjectedForm;
import dev.tenon.cuda.lower.matmul.MatMulChoiceTest;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.DeviceProperties;
import org.junit.jupiter.api.Test;

class ProjectedPlanTest {
    private static final DeviceProperties H200 = MatMulChoiceTest.device(9, 0);

    /** Of q, k and v of so many heads. */
    private static MatMulShape shape(long sequences, long tokens, long heads, int size) {
        long hidden = heads * size;
        return MatMulShape.of(Shape.of(sequences, tokens, hidden), Shape.of(hidden, 3 * hidden), false, false);
    }

    private static ProjectedPlan plan(long sequences, long tokens, long heads, int size) {
        ProjectedForm form = new ProjectedForm(DType.F16, size, false);
        return ProjectedPlan.of(form, shape(sequences, tokens, heads, size), sequences, heads, H200);
    }

    private static String refusal(ProjectedPlan plan, MatMulShape shape, DeviceProperties device, boolean specific) {
        return GpuProjectedLowering.refusal(plan, shape, device, specific, ProductForm.BY_CHOICE);
    }

    @Test
    void blocksAreNoMoreThanTiles() {
        assertThat(plan(2, 128, 12, 64).blocks()).isEqualTo(24);
        assertThat(plan(2, 128, 13, 32).blocks()).isEqualTo(14);
        assertThat(plan(32, 128, 12, 64).blocks()).isEqualTo(132);
    }

    @Test
    void sumsAreNoShorterThanWhatIsDoneBesideThem() {
        assertThat(plan(2, 128, 1, 64).steps()).isEqualTo(6);
        assertThat(plan(2, 128, 1, 32).steps()).isEqualTo(6);
        assertThat(plan(2, 128, 12, 64).steps()).isEqualTo(12);
    }

    @Test
    void blocksFitSharedMemory() {
        assertThat(ProjectedPlan.fits(H200)).isTrue();
        assertThat(ProjectedPlan.fits(MatMulChoiceTest.device(8, 0))).isFalse();
    }

    @Test
    void fullSequencesAreSoonerThanApart() {
        for (int size : new int[] {32, 64}) {
            for (long sequences : new long[] {8, 32, 256}) {
                MatMulShape shape = shape(sequences, 128, 12, size);
                assertThat(refusal(plan(sequences, 128, 12, size), shape, H200, true))
                        .as("%s of %s", sequences, size)
                        .isEmpty();
            }
        }
    }

    @Test
    void refusalsNameTheReason() {
        MatMulShape shape = shape(32, 128, 12, 64);
        ProjectedPlan plan = plan(32, 128, 12, 64);
        assertThat(refusal(plan, shape, H200, false)).isEqualTo("no compiler for sm_90a");
        assertThat(refusal(plan, shape, MatMulChoiceTest.device(8, 0), true)).contains("is not 9.0");
        assertThat(GpuProjectedLowering.refusal(plan, shape, H200, true, ProductForm.PLAIN))
                .isEqualTo("other products are asked for");
        MatMulShape half = shape(256, 66, 12, 64);
        assertThat(refusal(plan(256, 66, 12, 64), half, H200, true)).contains("us by the model");
        assertThat(GpuProjectedLowering.refusal(plan(256, 66, 12, 64), half, H200, true, ProductForm.RING))
                .isEmpty();
    }
}
