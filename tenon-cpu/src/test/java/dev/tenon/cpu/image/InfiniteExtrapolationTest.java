package dev.tenon.cpu.image;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.NearestMode;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.RandomOps;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What infinities outside become in each mode: axes that are cut, cut and resampled, and as they are. */
class InfiniteExtrapolationTest {
    @ParameterizedTest
    @EnumSource(ResizeMode.class)
    void axesMixWhatEarlierAxesMet(ResizeMode mode) {
        Seeded random = new Seeded(mode.ordinal());
        for (int round = 0; round < 60; round++) {
            int rank = (int) random.nextLong(1, 4);
            List<Long> sizes = new ArrayList<>();
            List<Double> scales = new ArrayList<>();
            List<Double> starts = new ArrayList<>();
            List<Double> ends = new ArrayList<>();
            long[] from = new long[rank];
            for (int axis = 0; axis < rank; axis++) {
                from[axis] = random.nextLong(1, 6);
                double scale = RandomOps.any(random, 1.0, 0.5, 1.75);
                boolean whole = random.nextLong(0, 2) == 0;
                sizes.add(Math.max(1, (long) (from[axis] * scale)));
                scales.add(scale);
                starts.add(whole ? 0 : random.nextLong(-2, 4) / 8.0);
                ends.add(whole ? 1 : random.nextLong(4, 10) / 8.0);
            }
            starts.addAll(ends);
            Resize op = new Resize(
                    mode,
                    CoordinateMode.TF_CROP_AND_RESIZE,
                    NearestMode.FLOOR,
                    -0.75,
                    random.nextLong(0, 1) == 0,
                    RandomOps.any(random, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN),
                    random.nextLong(0, 1) == 0,
                    scales,
                    sizes,
                    starts);
            DType dtype = RandomOps.any(random, DType.F32, DType.F64, DType.F16);
            RandomOps.check(op, 16, List.of(random.floats(dtype, -2, 2, from)));
        }
    }
}
