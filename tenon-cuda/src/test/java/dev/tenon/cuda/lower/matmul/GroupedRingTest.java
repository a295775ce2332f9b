package dev.tenon.cuda.lower.matmul;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.port.DeviceProperties;
import org.junit.jupiter.api.Test;

class GroupedRingTest {
    private static final DeviceProperties H200 = MatMulChoiceTest.device(9, 0);

    private static String refusal(DType dtype, GroupedSizes sizes) {
        return GroupedRing.refusal(dtype, sizes, H200, true, false);
    }

    @Test
    void refusalsNameTheReason() {
        GroupedSizes sizes = new GroupedSizes(8192, 8, 14336, 4096);
        assertThat(refusal(DType.BF16, sizes)).isEmpty();
        assertThat(refusal(DType.F32, sizes)).isEqualTo("it takes f16 and bf16, not f32");
        assertThat(GroupedRing.refusal(DType.F16, sizes, MatMulChoiceTest.device(8, 0), true, false))
                .contains("is not 9.0");
        assertThat(GroupedRing.refusal(DType.F16, sizes, H200, false, false)).isEqualTo("no compiler for sm_90a");
        assertThat(refusal(DType.F16, new GroupedSizes(8192, 8, 14336, 4100))).contains("it takes both in eights");
        assertThat(refusal(DType.F16, new GroupedSizes(65536, 1025, 64, 64))).isEqualTo("1025 groups; it takes 1024");
        assertThat(refusal(DType.F16, new GroupedSizes(1L << 31, 8, 64, 64)))
                .isEqualTo("places are counted in 32 bits");
        assertThat(refusal(DType.F16, new GroupedSizes(1 << 29, 8, 1 << 20, 64)))
                .isEqualTo("places are counted in 32 bits");
    }

    @Test
    void fewRowsOfAGroupAreNotTakenByChoice() {
        GroupedSizes few = new GroupedSizes(128, 64, 1408, 2048);
        assertThat(refusal(DType.BF16, few)).isEqualTo("128 rows for 64 groups; it takes 32 for each");
        assertThat(GroupedRing.refusal(DType.BF16, few, H200, true, true)).isEmpty();
    }

    @Test
    void tilesAreThoseThatFillTheDevice() {
        GroupedRing large = GroupedRing.of(DType.BF16, new GroupedSizes(8192, 8, 14336, 4096), H200);
        assertThat(large.text()).isEqualTo("grouped_matmul_wgmma, tiles of 128x256");
        assertThat(large.steps()).isEqualTo(64);
        assertThat(large.blocks()).isEqualTo(H200.multiprocessors());
        GroupedRing narrow = GroupedRing.of(DType.BF16, new GroupedSizes(32768, 64, 1408, 2048), H200);
        assertThat(narrow.text()).isEqualTo("grouped_matmul_wgmma, tiles of 128x128");
        GroupedRing middle = GroupedRing.of(DType.BF16, new GroupedSizes(16384, 128, 768, 2048), H200);
        assertThat(middle.text()).isEqualTo("grouped_matmul_wgmma, tiles of 128x192");
    }

    @Test
    void sumsAreNoShorterThanWhatIsStoredBesideThem() {
        GroupedRing small = GroupedRing.of(DType.F16, new GroupedSizes(7, 1, 8, 8), H200);
        assertThat(small.steps()).isEqualTo(5);
        assertThat(small.blocks()).isEqualTo(1);
    }

    @Test
    void weightsOfFewRowsTakeAsLongAsMemoryBringsThem() {
        GroupedSizes few = new GroupedSizes(32, 8, 14336, 4096);
        double bytes = 2.0 * 8 * 14336 * 4096;
        assertThat(GroupedRing.of(DType.BF16, few, H200).microseconds()).isGreaterThan(bytes / 4.5e6);
    }
}
