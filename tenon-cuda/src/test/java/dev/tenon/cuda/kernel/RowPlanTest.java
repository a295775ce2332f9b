package dev.tenon.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.DeviceProperties;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowPlanTest {
    private static final DeviceProperties H100 = new DeviceProperties(
            0, "H100", new Architecture(9, 0), 132, 80L << 30, 49152, 232448, 233472, 65536, 2048, 50 << 20, true);

    @Test
    void picksTheFormByLengthAndAlignment() {
        assertThat(entry(1024, 1024, true)).isEqualTo("softmax_warp_v16r8");
        assertThat(entry(1024, 1024, false)).isEqualTo("softmax_warp_v1r32");
        assertThat(entry(128, 128, true)).isEqualTo("softmax_warp_v16r1");
        assertThat(entry(1024, 1, true)).isEqualTo("softmax_warp_v16r1");
        assertThat(entry(5, 1023, true)).isEqualTo("softmax_warp_v16r8");
        assertThat(entry(1024, 2048, true)).isEqualTo("softmax_block_v16t128");
        assertThat(entry(1024, 32768, true)).isEqualTo("softmax_block_v16t512");
        assertThat(entry(4096, 50257, true)).isEqualTo("softmax_block_v16t512");
    }

    @Test
    void sharesOnlyRowsThatAreLongAndFew() {
        assertThat(plan(4096, 50257).blocks()).isEqualTo(1);
        assertThat(plan(1024, 32768).blocks()).isEqualTo(1);
        assertThat(plan(1, 16_777_216).blocks()).isGreaterThan(200);
        assertThat(plan(64, 1_000_003).blocks()).isEqualTo(33); // eight rows at a time, every slot busy
        assertThat(plan(3, 2000).blocks()).isEqualTo(1);
    }

    @Test
    void whatItAsksForFitsTheDevice() {
        for (RowRule rule : RowRule.values()) {
            for (DType dtype : List.of(DType.F64, DType.F32, DType.F16, DType.BF16)) {
                for (long rows : new long[] {1, 2, 64, 263, 264, 265, 100_000}) {
                    for (long cols : new long[] {1, 31, 33, 1024, 1025, 4097, 16384, 50257, 1_000_003, 1L << 24}) {
                        RowPlan plan = RowPlan.of(rule, dtype, rows, cols, true, H100);
                        String what = rule + " " + dtype + " " + rows + "x" + cols + ": " + plan;
                        assertThat(plan.file().entries().stream().map(KernelSpec::entry))
                                .as(what)
                                .contains(plan.entry());
                        assertThat(plan.shape().sharedBytes()).as(what).isLessThanOrEqualTo(232448 - 1024);
                        if (plan.blocks() > 1) {
                            int slots = 132
                                    * RowRule.residentBlocks(dtype)
                                    * 512
                                    / plan.shape().blockX();
                            assertThat(plan.shape().gridX()).as(what).isLessThanOrEqualTo(slots);
                            assertThat(plan.shape().gridX() % plan.blocks())
                                    .as(what)
                                    .isZero();
                            assertThat(plan.shape().cooperative()).as(what).isTrue();
                        } else if (plan.block()) {
                            assertThat((long) plan.shape().gridX()).as(what).isLessThanOrEqualTo(rows);
                        } else {
                            long warps =
                                    (long) plan.shape().gridX() * plan.shape().blockX() / 32;
                            assertThat(warps).as(what).isBetween(rows, rows + 3);
                        }
                    }
                }
            }
        }
    }

    private static String entry(long rows, long cols, boolean aligned) {
        return RowPlan.of(RowRule.SOFTMAX, DType.F32, rows, cols, aligned, H100).entry();
    }

    private static RowPlan plan(long rows, long cols) {
        return RowPlan.of(RowRule.SOFTMAX, DType.F32, rows, cols, true, H100);
    }
}
