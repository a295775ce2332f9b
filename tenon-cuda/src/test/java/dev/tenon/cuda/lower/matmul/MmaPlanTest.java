package dev.tenon.cuda.lower.matmul;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog.Tile;
import dev.tenon.cuda.port.DeviceProperties;
import org.junit.jupiter.api.Test;

/** How products on tensor cores are cut, decided without a device. */
class MmaPlanTest {
    private static final DeviceProperties HOPPER = MatMulChoiceTest.device(9, 0);
    private static final DeviceProperties AMPERE = MatMulChoiceTest.device(8, 0);
    private static final DeviceProperties TURING = MatMulChoiceTest.device(7, 5);

    private static MmaPlan plan(DType dtype, DeviceProperties device, long m, long n, long k) {
        MatMulShape shape = MatMulShape.of(Shape.of(m, k), Shape.of(k, n), false, false);
        return MmaPlan.of(dtype, shape, device, true, null);
    }

    @Test
    void largeProductsHaveLargeTiles() {
        assertThat(plan(DType.BF16, HOPPER, 8192, 8192, 8192).tile()).isEqualTo(Tile.W128X256);
        assertThat(plan(DType.F32, HOPPER, 8192, 8192, 8192).tile()).isEqualTo(Tile.T128X256);
        assertThat(plan(DType.BF16, AMPERE, 8192, 8192, 8192).tile()).isEqualTo(Tile.T128X256);
        assertThat(plan(DType.BF16, HOPPER, 8192, 8192, 8192).splits()).isEqualTo(1);
    }

    @Test
    void fewRowsHaveLowTilesAndSharesOfK() {
        MmaPlan plan = plan(DType.F16, HOPPER, 16, 4096, 4096);
        assertThat(plan.tile()).isEqualTo(Tile.T16X64);
        assertThat(plan.splits()).isEqualTo(4);
        assertThat(plan.text()).isEqualTo("matmul_wmma 16x64, 4 splits of k");
        assertThat(plan(DType.F16, HOPPER, 16, 1536, 384).splits()).isEqualTo(1);
    }

    @Test
    void warpgroupsNeedTheirCapabilityAndACompilerOfIt() {
        MatMulShape shape = MatMulShape.of(Shape.of(1024, 1024), Shape.of(1024, 1024), false, true);
        assertThat(MmaPlan.of(DType.F16, shape, HOPPER, true, null).tile().ofWarpgroups())
                .isTrue();
        assertThat(MmaPlan.of(DType.F16, shape, HOPPER, false, null).tile().ofWarpgroups())
                .isFalse();
        assertThat(MmaPlan.of(DType.F16, shape, MatMulChoiceTest.device(12, 0), true, null)
                        .tile()
                        .ofWarpgroups())
                .isFalse();
        MatMulShape across = MatMulShape.of(Shape.of(1024, 1024), Shape.of(1024, 1024), true, true);
        assertThat(MmaPlan.of(DType.F16, across, HOPPER, true, null).tile().ofWarpgroups())
                .isFalse();
    }

    @Test
    void tilesFitTheSharedMemory() {
        for (long size : new long[] {16, 128, 1024, 8192}) {
            Tile tile = plan(DType.F16, TURING, size, size, size).tile();
            assertThat(tile.sharedBytes(75)).isLessThanOrEqualTo(TURING.sharedBytesPerBlockOptIn());
        }
        assertThat(Tile.T128X256.sharedBytes(80)).isLessThanOrEqualTo(163 << 10);
        assertThat(Tile.W128X256.sharedBytes(90)).isLessThanOrEqualTo(227 << 10);
    }

    @Test
    void unpackedOperandsHaveTilesThatReadThem() {
        for (long odd : new long[] {1, 7, 129, 1001}) {
            MmaPlan plan = plan(DType.BF16, HOPPER, odd, odd, odd);
            assertThat(plan.packed()).isFalse();
            assertThat(plan.tile().takes(DType.BF16, true, false)).isTrue();
        }
        assertThat(plan(DType.F32, HOPPER, 5, 12, 20).packed()).isTrue();
    }

    @Test
    void workspaceIsBounded() {
        for (long k : new long[] {1 << 10, 1 << 16, 1 << 20}) {
            for (long n : new long[] {16, 256, 2048}) {
                MmaPlan plan = plan(DType.F32, HOPPER, 64, n, k);
                long bytes = plan.tiles()
                        * plan.splits()
                        * plan.tile().rows()
                        * plan.tile().columns()
                        * Float.BYTES;
                assertThat(plan.splits() == 1 ? 0 : bytes).isLessThanOrEqualTo(32 << 20);
            }
        }
    }

    @Test
    void reasonsNameWhatIsMissing() {
        MatMulShape shape = MatMulShape.of(Shape.of(4, 0), Shape.of(0, 4), false, false);
        assertThat(MmaPlan.refusal(DType.F16, shape, Precision.FAST, HOPPER)).isEqualTo("the sum is empty");
        assertThat(MmaPlan.refusal(DType.BF16, shape, Precision.FAST, TURING))
                .isEqualTo("compute capability 7.5 is below 8.0");
    }
}
