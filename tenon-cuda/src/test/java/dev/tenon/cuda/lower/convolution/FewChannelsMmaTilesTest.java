package dev.tenon.cuda.lower.convolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.lower.step.ConvForm;
import dev.tenon.cuda.port.Architecture;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How convolutions of few channels are cut for tensor cores, and which are refused. */
class FewChannelsMmaTilesTest {
    private static final int MULTIPROCESSORS = 132;
    private static final Architecture HOPPER = new Architecture(9, 0, false);

    private static final Architecture TURING = new Architecture(7, 5, false);

    @Test
    void aLargeImageHasOneTilePerBlock() {
        FewChannelsMmaTiles tiles = of(stem(1, 3, 640, 32, 3, 2, true));
        assertThat(tiles.entry()).isEqualTo("conv_few_channels_mma_64x32");
        assertThat(tiles.blocks()).isEqualTo(tiles.tiles());
        assertThat(tiles.tiles() * (tiles.rows() << tiles.columns())).isEqualTo(320 * 320);
    }

    @Test
    void manyTilesAreSharedEvenlyAmongResidentBlocks() {
        FewChannelsMmaTiles tiles = of(stem(32, 3, 224, 32, 3, 2, true));
        assertThat(tiles.blocks()).isBetween(MULTIPROCESSORS * 2L, MULTIPROCESSORS * 4L);
        assertThat(Math.ceilDiv(tiles.tiles(), tiles.blocks()) * tiles.blocks())
                .isLessThan(tiles.tiles() + tiles.blocks());
    }

    @Test
    void fewPositionsAreMade32PerWarp() {
        assertThat(of(stem(1, 3, 64, 32, 3, 2, true)).entry()).isEqualTo("conv_few_channels_mma_32x32");
    }

    @Test
    void manyMultiplicationsShareTheirCellsAmong64Outputs() {
        assertThat(of(stem(32, 3, 224, 64, 7, 2, true)).entry()).isEqualTo("conv_few_channels_mma_32x64");
    }

    @Test
    void everyTileHasThePositionsOfItsWarps() {
        for (long outputs : new long[] {8, 32, 40, 64, 264}) {
            for (long size : new long[] {1, 5, 33, 300}) {
                for (long stride : new long[] {1, 2, 5}) {
                    FewChannelsMmaTiles tiles = of(stem(2, 3, size, outputs, 3, stride, size % 2 == 0));
                    assertThat(tiles.rows() << tiles.columns())
                            .isEqualTo(4L * tiles.form().positions() / tiles.shares());
                    assertThat(tiles.parts() * tiles.shares() * tiles.form().outputs())
                            .isGreaterThanOrEqualTo(outputs);
                    assertThat(tiles.sharedBytes()).isLessThanOrEqualTo(48 << 10);
                }
            }
        }
    }

    @Test
    void whatTensorCoresDoNotTakeIsRefused() {
        ConvGeometry usual = stem(1, 3, 30, 32, 3, 1, true);
        assertThat(FewChannelsMmaTiles.refusal(usual, DType.F16, HOPPER)).isEmpty();
        assertThat(FewChannelsMmaTiles.refusal(usual, DType.F32, HOPPER)).isEmpty();
        assertThat(FewChannelsMmaTiles.refusal(usual, DType.F64, HOPPER)).contains("f64");
        assertThat(FewChannelsMmaTiles.refusal(usual, DType.F16, TURING)).contains("below 8.0");
        assertThat(FewChannelsMmaTiles.refusal(stem(1, 3, 224, 768, 32, 32, true), DType.F16, HOPPER))
                .contains("48 KiB");
        ConvGeometry.Axis axis = new ConvGeometry.Axis(30, 26, 3, 1, 0, 0, 2);
        ConvGeometry dilated = new ConvGeometry(1, 1, 3, 32, List.of(axis, axis), false, true);
        assertThat(FewChannelsMmaTiles.refusal(dilated, DType.BF16, HOPPER)).contains("side by side");
    }

    @Test
    void itIsFasterThanPlainProductsByTheModel() {
        ConvGeometry geometry = stem(1, 3, 640, 32, 3, 2, true);
        double plain =
                FewChannelsTiles.of(geometry, MULTIPROCESSORS).orElseThrow().microseconds(geometry, MULTIPROCESSORS);
        assertThat(of(geometry).microseconds(geometry, MULTIPROCESSORS)).isBetween(4.0, plain / 2);
    }

    @Test
    void wordsOfF32AreOneElementEach() {
        ConvGeometry geometry = stem(1, 3, 640, 32, 3, 2, true);
        FewChannelsMmaTiles tiles = of(geometry, DType.F32);
        assertThat(tiles.form().each()).isEqualTo(1);
        assertThat(tiles.tiles() * (tiles.rows() << tiles.columns())).isEqualTo(320 * 320);
        assertThat(tiles.microseconds(geometry, MULTIPROCESSORS))
                .isGreaterThan(of(geometry).microseconds(geometry, MULTIPROCESSORS));
    }

    @Test
    void aFormIsTakenWhereItIsAskedFor() {
        ConvGeometry geometry = stem(1, 3, 64, 32, 3, 2, true);
        for (FewChannelsMmaTiles.Form form : FewChannelsMmaTiles.FORMS) {
            assertThat(FewChannelsMmaTiles.of(geometry, DType.BF16, MULTIPROCESSORS, form.asked()))
                    .hasValueSatisfying(tiles -> assertThat(tiles.form()).isEqualTo(form));
        }
        assertThat(FewChannelsMmaTiles.of(geometry, DType.F16, MULTIPROCESSORS, ConvForm.FEW_CHANNELS))
                .isEmpty();
    }

    private static FewChannelsMmaTiles of(ConvGeometry geometry) {
        return of(geometry, DType.F16);
    }

    private static FewChannelsMmaTiles of(ConvGeometry geometry, DType dtype) {
        return FewChannelsMmaTiles.of(geometry, dtype, MULTIPROCESSORS, ConvForm.BY_CHOICE)
                .orElseThrow();
    }

    private static ConvGeometry stem(
            long batch, long channels, long size, long outputs, long kernel, long stride, boolean last) {
        long pad = kernel / 2;
        long output = (size + 2 * pad - kernel) / stride + 1;
        ConvGeometry.Axis axis = new ConvGeometry.Axis(size, output, kernel, stride, pad, pad, 1);
        return new ConvGeometry(batch, 1, channels, outputs, List.of(axis, axis), false, last);
    }
}
