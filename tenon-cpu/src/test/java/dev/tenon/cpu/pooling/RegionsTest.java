package dev.tenon.cpu.pooling;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.pooling.MaxRoiPool;
import dev.tenon.core.ir.op.pooling.RoiAlign;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import dev.tenon.cpu.RandomOps;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pools of regions against their definition, bit for bit: regions inside, outside, empty, turned about. */
class RegionsTest {
    private static NdArray image(Seeded random, DType dtype, long batch) {
        NdArray x = random.array(dtype, batch, random.nextLong(0, 5), random.nextLong(1, 13), random.nextLong(1, 13));
        if (x.size() > 40) {
            x.set(17, Double.NaN);
            x.set(31, Double.POSITIVE_INFINITY);
            x.set(40, -0.0);
        }
        return x;
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19})
    void anyRegions(long seed) {
        Seeded random = new Seeded(seed);
        DType dtype = RandomOps.any(random, DType.F32, DType.F32, DType.F64, DType.F16, DType.BF16);
        long batch = random.nextLong(1, 3);
        long count = random.nextLong(0, 9);
        double scale = RandomOps.any(random, 1.0, 0.25, 2.0);
        NdArray x = image(random, dtype, batch);
        NdArray corners = random.floats(dtype, -8, 20, count, 4);
        NdArray images = random.integers(RandomOps.any(random, DType.I32, DType.I64), 0, batch - 1, count);
        long rows = random.nextLong(1, 8);
        long columns = random.nextLong(1, 8);
        RoiAlign align = new RoiAlign(
                rows, columns, random.nextLong(0, 3), scale, random.nextLong(0, 1) == 0, random.nextLong(0, 1) == 0);
        RandomOps.check(align, 0, List.of(x, corners, images));
        NdArray rois = NdArray.zeros(dtype, count, 5);
        for (int i = 0; i < count; i++) {
            rois.set(5 * i, random.nextLong(0, batch - 1));
            for (int j = 0; j < 4; j++) {
                rois.set(5 * i + 1 + j, corners.get(4 * i + j));
            }
        }
        RandomOps.check(new MaxRoiPool(rows, columns, scale), 0, List.of(x, rois));
    }

    @Test
    void longBinsHaveManySamples() {
        Seeded random = new Seeded(3);
        NdArray rois = random.floats(DType.F32, 100, 900, 2, 4);
        rois.set(0, Tolerance.rounded(DType.F32, -9000));
        NdArray images = NdArray.zeros(DType.I64, 2);
        NdArray x = random.array(DType.F32, 1, 2, 3, 999);
        RandomOps.check(new RoiAlign(1, 3, 0, 1, true, false), 0, List.of(x, rois, images));
    }

    @Test
    void regionsThatAreNotThereAreErrors() {
        Seeded random = new Seeded(4);
        NdArray x = random.array(DType.F32, 2, 1, 3, 3);
        NdArray rois = random.array(DType.F32, 1, 4);
        NdArray other = NdArray.zeros(DType.F32, 1, 5);
        for (long image : new long[] {-1, 2}) {
            NdArray images = NdArray.zeros(DType.I64, 1);
            images.set(0, image);
            other.set(0, (double) image);
            OneNode align = OneNode.of(new RoiAlign(2, 2, 2, 1, true, false), x, rois, images);
            assertThatThrownBy(align::run)
                    .isInstanceOf(DataException.class)
                    .hasMessageContaining("is of image " + image + "; expected 0 to 1");
            assertThatThrownBy(OneNode.of(new MaxRoiPool(2, 2, 1), x, other)::run)
                    .isInstanceOf(DataException.class)
                    .hasMessageContaining("is of image " + image + ".0; expected 0 to 1");
        }
        rois.set(2, Double.NaN);
        OneNode broken = OneNode.of(new RoiAlign(2, 2, 0, 1, true, false), x, rois, NdArray.zeros(DType.I64, 1));
        assertThatThrownBy(broken::run).isInstanceOf(DataException.class).hasMessageContaining("finite numbers");
    }
}
