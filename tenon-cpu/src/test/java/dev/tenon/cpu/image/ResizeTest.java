package dev.tenon.cpu.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.NearestMode;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import dev.tenon.cpu.RandomOps;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Channels that lie side by side, few and many, and planes; larger, smaller and cut; for any number of workers. */
class ResizeTest {
    private static Resize resize(ResizeMode mode, boolean cut, List<Double> scales, List<Long> sizes) {
        CoordinateMode coordinates = cut ? CoordinateMode.TF_CROP_AND_RESIZE : CoordinateMode.HALF_PIXEL;
        List<Double> region = cut ? List.of(0.0, -0.25, 0.25, 0.0, 1.0, 1.0, 1.25, 1.0) : List.of();
        return new Resize(mode, coordinates, NearestMode.FLOOR, -0.75, false, 5, false, scales, sizes, region);
    }

    private static void check(Resize op, NdArray x) {
        RandomOps.check(op, 16, List.of(x));
        double[] one = OneNode.of(op, x).run().getFirst().toDoubles();
        for (int threads : new int[] {2, 5}) {
            double[] several =
                    OneNode.of(op, x).threads(threads).run().getFirst().toDoubles();
            assertThat(several).as(threads + " threads").isEqualTo(one);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 15, 16, 17, 64, 100, 513})
    void channelsLast(long channels) {
        Seeded random = new Seeded(channels);
        for (ResizeMode mode : new ResizeMode[] {ResizeMode.LINEAR, ResizeMode.CUBIC}) {
            for (boolean cut : new boolean[] {false, true}) {
                NdArray x = random.floats(DType.F32, -2, 2, 2, 7, 9, channels);
                check(resize(mode, cut, List.of(1.0, 2.0, 2.0, 1.0), List.of(2L, 14L, 18L, channels)), x);
                check(resize(mode, cut, List.of(1.0, 0.5, 1.4, 1.0), List.of(2L, 3L, 12L, channels)), x);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 17, 80, 301})
    void planes(long width) {
        Seeded random = new Seeded(width);
        for (ResizeMode mode : new ResizeMode[] {ResizeMode.LINEAR, ResizeMode.CUBIC}) {
            NdArray x = random.floats(DType.F32, -2, 2, 1, 3, 11, width);
            check(resize(mode, false, List.of(1.0, 1.0, 2.0, 2.0), List.of(1L, 3L, 22L, 2 * width)), x);
            long less = Math.max(1, width / 3);
            check(resize(mode, false, List.of(1.0, 1.0, 0.4, 1 / 3.0), List.of(1L, 3L, 4L, less)), x);
        }
    }
}
