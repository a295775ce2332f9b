package dev.tenon.cuda.lower.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.lower.attention.AttentionProblem.Formula;
import dev.tenon.cuda.lower.attention.AttentionProblem.Mask;
import dev.tenon.cuda.lower.attention.AttentionProblem.MaskStrides;
import dev.tenon.cuda.lower.attention.AttentionProblem.Strides;
import dev.tenon.cuda.port.FakeGpu;
import org.junit.jupiter.api.Test;

/** What attention_wgmma takes before cuDNN, and in how many blocks. */
class WarpgroupTilesTest {
    @Test
    void comesBeforeCudnnWhereCausal() {
        assertThat(tiles(32, 1024, 128, true).areFasterThanLibrary()).isTrue();
        assertThat(tiles(32, 1024, 128, false).areFasterThanLibrary()).isFalse();
        assertThat(tiles(32, 1024, 64, true).areFasterThanLibrary()).isFalse();
        assertThat(tiles(32, 511, 128, true).areFasterThanLibrary()).isFalse();
    }

    @Test
    void comesAfterCudnnWhereItDoesNotTakeTheProblem() {
        WarpgroupTiles uncompiled = new WarpgroupTiles(problem(32, 1024, 128, true), FakeGpu.DEVICE, false);
        assertThat(uncompiled.refusal()).isEqualTo("no compiler for sm_90a");
        assertThat(uncompiled.areFasterThanLibrary()).isFalse();
    }

    @Test
    void causalTilesComeInPairsWhereTheyAreMoreThanMultiprocessors() {
        assertThat(tiles(32, 512, 128, true).blocks()).isEqualTo(128);
        assertThat(tiles(32, 512, 128, false).blocks()).isEqualTo(128);
        assertThat(tiles(32, 640, 128, true).blocks()).isEqualTo(32 * 3);
        assertThat(tiles(32, 640, 128, false).blocks()).isEqualTo(FakeGpu.DEVICE.multiprocessors());
        assertThat(tiles(32, 4096, 128, true).blocks()).isEqualTo(FakeGpu.DEVICE.multiprocessors());
    }

    private static WarpgroupTiles tiles(long heads, long tokens, int size, boolean causal) {
        return new WarpgroupTiles(problem(heads, tokens, size, causal), FakeGpu.DEVICE, true);
    }

    private static AttentionProblem problem(long heads, long tokens, int size, boolean causal) {
        Strides strides = new Strides(heads * tokens * size, size, tokens * size);
        return new AttentionProblem(
                DType.BF16,
                1,
                heads,
                1,
                tokens,
                tokens,
                size,
                size,
                strides,
                strides,
                strides,
                strides,
                Mask.NONE,
                MaskStrides.of(null),
                causal,
                0,
                0.1,
                0,
                Formula.SEEN_ALONE);
    }
}
