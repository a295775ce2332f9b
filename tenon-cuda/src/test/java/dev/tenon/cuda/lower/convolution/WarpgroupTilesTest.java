package dev.tenon.cuda.lower.convolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.lower.matmul.MatMulChoiceTest;
import dev.tenon.cuda.lower.step.ConvForm;
import dev.tenon.cuda.port.DeviceProperties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How convolutions are cut for warpgroups. */
class WarpgroupTilesTest {
    private static final DeviceProperties H200 = MatMulChoiceTest.device(9, 0);

    @Test
    void manyTilesAreNotParted() {
        WarpgroupTiles tiles = tiles(32 * 56 * 56, 64, 9, ConvForm.WARPGROUPS_FETCHING);
        assertThat(tiles.parts()).isEqualTo(1);
        assertThat(tiles.form().columns()).isEqualTo(64);
        assertThat(tiles.rows()).isEqualTo(784);
        assertThat(tiles.across()).isEqualTo(1);
        assertThat(tiles.launch(H200).gridX()).isEqualTo(784);
    }

    @Test
    void fewTilesOfLongSumsAreParted() {
        WarpgroupTiles tiles = tiles(49, 512, 72, ConvForm.BY_CHOICE);
        assertThat(tiles.parts()).isGreaterThan(1);
        assertThat(tiles.steps()).isEqualTo(Math.ceilDiv(72, tiles.parts()));
        assertThat(tiles.text()).startsWith("conv_wgmma_128x").endsWith(tiles.parts() + " parts");
    }

    @Test
    void tilesThatHalfFillTheDeviceAreNotParted() {
        assertThat(tiles(8 * 14 * 14, 512, 72, ConvForm.BY_CHOICE).parts()).isEqualTo(1);
    }

    @Test
    void sumsOfOneStepAreNotParted() {
        assertThat(tiles(10, 16, 1, ConvForm.BY_CHOICE).parts()).isEqualTo(1);
    }

    /** As measured, the faster. */
    @ParameterizedTest
    @CsvSource({
        "100352, 64, 8, conv_wgmma_kept_64",
        "100352, 64, 9, conv_wgmma_kept_64",
        "100352, 256, 1, conv_wgmma_kept_128",
        "25088, 512, 2, conv_wgmma_kept_128",
        "25088, 128, 8, conv_wgmma_kept_64",
        "100352, 256, 9, conv_wgmma_kept_128",
        "6272, 256, 16, conv_wgmma_128x64",
        "25088, 128, 18, conv_wgmma_128x128",
        "100352, 256, 18, conv_wgmma_128x256"
    })
    void weightsAreKeptWhereTilesAreMany(long rows, long outputs, long steps, String entry) {
        assertThat(tiles(rows, outputs, steps, ConvForm.BY_CHOICE).text()).isEqualTo(entry);
    }

    @Test
    void blocksThatKeepWeightsAreNoMoreThanMultiprocessors() {
        WarpgroupTiles tiles = tiles(25088, 512, 2, ConvForm.WARPGROUPS_KEEPING);
        assertThat(tiles.launch(H200).gridX()).isEqualTo(H200.multiprocessors() / 4);
        assertThat(tiles.launch(H200).gridY()).isEqualTo(4);
        assertThat(tiles(130, 200, 2, ConvForm.WARPGROUPS_KEEPING).launch(H200).gridX())
                .isEqualTo(2);
    }

    /** The longest whose weights fit, and one that is longer. */
    @Test
    void longSumsAreNotKept() {
        assertThat(tiles(100352, 64, 20, ConvForm.WARPGROUPS_KEEPING).stages()).isEqualTo(4);
        assertThat(tiles(100352, 64, 21, ConvForm.WARPGROUPS_KEEPING).form().keeping())
                .isFalse();
        assertThat(tiles(300, 64 * H200.multiprocessors() * 2 + 1, 1, ConvForm.WARPGROUPS_KEEPING)
                        .form()
                        .keeping())
                .isFalse();
    }

    @Test
    void everyFormFitsIntoABlock() {
        for (WarpgroupTiles.Form form : WarpgroupTiles.FORMS) {
            for (int steps = 1; steps <= 20; steps++) {
                WarpgroupTiles tiles = new WarpgroupTiles(form, 1, steps, 1, 1);
                assertThat((tiles.sharedBytes() + 2048) * form.times().resident())
                        .isLessThanOrEqualTo(tiles.stages() > 0 ? 227 << 10 : Integer.MAX_VALUE);
            }
        }
    }

    private static WarpgroupTiles tiles(long rows, long outputs, long steps, ConvForm asked) {
        return WarpgroupTiles.of(new WarpgroupTiles.Sizes(rows, outputs, steps), asked, H200);
    }
}
