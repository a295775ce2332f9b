package dev.tenon.cuda.lower.convolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.lower.matmul.MatMulChoiceTest;
import dev.tenon.cuda.port.DeviceProperties;
import org.junit.jupiter.api.Test;

/** How convolutions are cut for warpgroups. */
class WarpgroupTilesTest {
    private static final DeviceProperties H200 = MatMulChoiceTest.device(9, 0);

    @Test
    void manyTilesAreNotParted() {
        WarpgroupTiles tiles = WarpgroupTiles.of(32 * 56 * 56, 64, 9, H200);
        assertThat(tiles.parts()).isEqualTo(1);
        assertThat(tiles.form().columns()).isEqualTo(64);
        assertThat(tiles.tiles()).isEqualTo(784);
    }

    @Test
    void fewTilesOfLongSumsAreParted() {
        WarpgroupTiles tiles = WarpgroupTiles.of(49, 512, 72, H200);
        assertThat(tiles.parts()).isGreaterThan(1);
        assertThat(tiles.steps()).isEqualTo(Math.ceilDiv(72, tiles.parts()));
        assertThat(tiles.text()).startsWith("conv_wgmma_128x").endsWith(tiles.parts() + " parts");
    }

    @Test
    void tilesThatHalfFillTheDeviceAreNotParted() {
        assertThat(WarpgroupTiles.of(8 * 14 * 14, 512, 72, H200).parts()).isEqualTo(1);
    }

    @Test
    void sumsOfOneStepAreNotParted() {
        assertThat(WarpgroupTiles.of(10, 16, 1, H200).parts()).isEqualTo(1);
    }

    @Test
    void everyFormFitsIntoABlock() {
        for (WarpgroupTiles.Form form : WarpgroupTiles.FORMS) {
            assertThat((form.sharedBytes() + 2048) * form.times().resident()).isLessThan(227 << 10);
        }
    }
}
