package dev.tenon.cuda.lower.convolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How convolutions of few channels are cut, and which are refused. */
class FewChannelsTilesTest {
    private static final int MULTIPROCESSORS = 132;

    @Test
    void aLargeImageFillsItsTiles() {
        FewChannelsTiles tiles = of(stem(1, 3, 640, 32, 3, 2));
        assertThat(tiles.parts()).isOne();
        assertThat(tiles.shares()).isEqualTo(4);
        assertThat(tiles.tiles() * (tiles.rows() << tiles.columns())).isEqualTo(320 * 320);
    }

    @Test
    void fewPositionsAreMadeFourPerThread() {
        assertThat(of(stem(1, 3, 64, 16, 3, 2)).form().positions()).isEqualTo(4);
        assertThat(of(stem(32, 3, 224, 32, 3, 2)).form().positions()).isEqualTo(8);
    }

    @Test
    void everyTileHasThePositionsOfItsThreads() {
        for (long outputs : new long[] {8, 16, 24, 32, 40, 264}) {
            for (long size : new long[] {1, 5, 33, 300}) {
                for (long stride : new long[] {1, 2, 5}) {
                    FewChannelsTiles tiles = of(stem(2, 4, size, outputs, 3, stride));
                    long step = tiles.threads() / tiles.shares();
                    assertThat(tiles.rows() << tiles.columns())
                            .isEqualTo(step * tiles.form().positions());
                    assertThat(tiles.rows() == 1 || 1L << tiles.columns() <= step)
                            .isTrue();
                    assertThat(tiles.parts() * tiles.shares() * FewChannelsTiles.OUTPUTS)
                            .isGreaterThanOrEqualTo(outputs);
                    assertThat(tiles.sharedBytes()).isLessThanOrEqualTo(48 << 10);
                }
            }
        }
    }

    @Test
    void windowsPastSharedMemoryAreRefused() {
        assertThat(FewChannelsConv.refusal(stem(1, 4, 300, 32, 61, 1), DType.F16))
                .contains("48 KiB");
    }

    @Test
    void otherChannelsAndOutputsAreRefused() {
        assertThat(FewChannelsConv.refusal(stem(1, 5, 30, 32, 3, 1), DType.F32)).contains("5 channels");
        assertThat(FewChannelsConv.refusal(stem(1, 3, 30, 12, 3, 1), DType.F32)).contains("12 outputs");
        assertThat(FewChannelsConv.refusal(stem(1, 3, 30, 32, 3, 1), DType.F64)).contains("f64");
        assertThat(FewChannelsConv.refusal(stem(1, 3, 30, 32, 3, 1), DType.F32)).isEmpty();
    }

    private static FewChannelsTiles of(ConvGeometry geometry) {
        return FewChannelsTiles.of(geometry, MULTIPROCESSORS).orElseThrow();
    }

    private static ConvGeometry stem(long batch, long channels, long size, long outputs, long kernel, long stride) {
        long pad = kernel / 2;
        long output = (size + 2 * pad - kernel) / stride + 1;
        ConvGeometry.Axis axis = new ConvGeometry.Axis(size, output, kernel, stride, pad, pad, 1);
        return new ConvGeometry(batch, 1, channels, outputs, List.of(axis, axis), false, true);
    }
}
