package dev.tenon.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.file.KernelSpec;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowPlanTest {
    private static final DeviceProperties H100 = new DeviceProperties(
            0, "H100", new Architecture(9, 0), 132, 80L << 30, 49152, 232448, 233472, 65536, 2048, 50 << 20, true);

    @Test
    void picksTheFormByLengthAndAlignment() {
        assertThat(entry(65536, 1024, true)).isEqualTo("softmax_warp_v16r8");
        assertThat(entry(1024, 1024, false)).isEqualTo("softmax_warp_v1r32");
        assertThat(entry(128, 128, true)).isEqualTo("softmax_warp_v16r1");
        assertThat(entry(1024, 1, true)).isEqualTo("softmax_warp_v16r1");
        assertThat(entry(5, 1023, true)).isEqualTo("softmax_team_v8");
        assertThat(entry(5, 512, true)).isEqualTo("softmax_warp_v16r4");
        assertThat(entry(1024, 1024, true)).isEqualTo("softmax_team_v8");
        assertThat(entry(4096, 1024, true)).isEqualTo("softmax_team_v8");
        assertThat(entry(1024, 2048, true)).isEqualTo("softmax_team_v32");
        assertThat(entry(1024, 2048, false)).isEqualTo("softmax_block_v1t128");
        assertThat(entry(1024, 32768, true)).isEqualTo("softmax_team_v32");
        assertThat(entry(1024, 32769, true)).isEqualTo("softmax_team_cluster");
        assertThat(entry(4096, 50257, true)).isEqualTo("softmax_team_cluster");
        assertThat(entry(4096, 50257, false)).isEqualTo("softmax_block_v1t512");
        assertThat(entry(256, 262_144, true)).isEqualTo("softmax_block_v16t512");
    }

    @Test
    void noClustersBeforeTheyWere() {
        DeviceProperties a100 = new DeviceProperties(
                0, "A100", new Architecture(8, 0), 108, 40L << 30, 49152, 166912, 167936, 65536, 2048, 40 << 20, true);
        assertThat(RowPlan.of(RowRule.SOFTMAX, DType.F32, 4096, 50257, true, a100)
                        .entry())
                .isEqualTo("softmax_block_v16t512");
        assertThat(RowPlan.of(RowRule.SOFTMAX, DType.F32, 1, 32768, true, a100).blocks())
                .isEqualTo(1);
    }

    @Test
    void sharesOnlyRowsThatAreLongOrFew() {
        assertThat(plan(4096, 50257).blocks()).isEqualTo(2);
        assertThat(plan(1024, 32768).blocks()).isEqualTo(1);
        assertThat(plan(1, 32768).blocks()).isEqualTo(4);
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
                        LaunchShape shape = plan.shape();
                        switch (plan.form()) {
                            case SHORT -> throw new AssertionError(what + ": rows may lie anywhere");
                            case WARP ->
                                assertThat((long) shape.gridX() * shape.blockX() / 32)
                                        .as(what)
                                        .isBetween(rows, rows + 3);
                            case TEAM -> {
                                assertThat((long) shape.gridX()).as(what).isEqualTo(rows * plan.blocks());
                                assertThat(shape.clusterX()).as(what).isEqualTo(plan.blocks());
                                assertThat(shape.blockX()).as(what).isBetween(128, 1024);
                                int values = (plan.entry().endsWith("v8") ? 8 : 32) / (dtype == DType.F64 ? 4 : 1);
                                assertThat((long) plan.blocks() * shape.blockX() * values)
                                        .as(what)
                                        .isGreaterThanOrEqualTo(cols);
                            }
                            case BLOCK -> {
                                int slots = 132 * RowRule.residentBlocks(dtype) * 512 / shape.blockX();
                                assertThat((long) shape.gridX())
                                        .as(what)
                                        .isLessThanOrEqualTo(plan.blocks() > 1 ? slots : rows);
                                assertThat(shape.gridX() % plan.blocks())
                                        .as(what)
                                        .isZero();
                                assertThat(shape.cooperative()).as(what).isEqualTo(plan.blocks() > 1);
                            }
                        }
                    }
                }
            }
        }
    }

    @Test
    void shortRowsOnBoundariesShareAWarp() {
        RowPlan plan = RowPlan.aligned(RowRule.LAYER_NORM, DType.F16, 200_704, 96, H100);
        assertThat(plan.form()).isEqualTo(RowPlan.Form.SHORT);
        assertThat(plan.blocks()).isEqualTo(4); // lanes a row
        assertThat(plan.shape().gridX()).isEqualTo(200_704 / 32);
        assertThat(RowPlan.aligned(RowRule.LAYER_NORM, DType.F16, 5, 1024, H100).blocks())
                .isEqualTo(32);
        assertThat(RowPlan.aligned(RowRule.LAYER_NORM, DType.F16, 5, 1032, H100).form())
                .isNotEqualTo(RowPlan.Form.SHORT);
        assertThat(RowPlan.aligned(RowRule.LAYER_NORM, DType.F32, 5, 97, H100).form())
                .isEqualTo(RowPlan.Form.WARP);
    }

    private static String entry(long rows, long cols, boolean aligned) {
        return RowPlan.of(RowRule.SOFTMAX, DType.F32, rows, cols, aligned, H100).entry();
    }

    private static RowPlan plan(long rows, long cols) {
        return RowPlan.of(RowRule.SOFTMAX, DType.F32, rows, cols, true, H100);
    }
}
