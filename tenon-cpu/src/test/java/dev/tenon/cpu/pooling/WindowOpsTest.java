package dev.tenon.cpu.pooling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.NearestMode;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import dev.tenon.cpu.RandomOps;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class WindowOpsTest {
    /** PL-01: the divisor is the cells inside the padded input, or inside the input. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void averageDivisor(boolean countPadding) {
        List<Long> one = List.of(1L, 1L);
        Pool op = new Pool(PoolFn.AVERAGE, List.of(3L, 3L), List.of(2L, 2L), one, one, one, true, countPadding, 0);
        NdArray x = NdArray.of(
                TensorType.of(DType.F32, 1, 1, 4, 4),
                LongStream.rangeClosed(1, 16).asDoubleStream().toArray());
        double[] expected = countPadding
                ? new double[] {1.5555556f, 3.3333333f, 2, 6.3333335f, 11, 6, 4.5, 7.5, 4}
                : new double[] {3.5, 5, 6, 9.5, 11, 12, 13.5, 15, 16};
        assertThat(OneNode.of(op, x).run().getFirst().toDoubles()).containsExactly(expected);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void randomPools(long seed) {
        Seeded random = new Seeded(seed);
        for (int round = 0; round < 6; round++) {
            int axes = (int) random.nextLong(1, 3);
            List<Long> kernel = RandomOps.numbers(random, axes, 1, 3);
            List<Long> strides = RandomOps.numbers(random, axes, 1, 3);
            // pads smaller than the window: of padding alone there is no maximum
            List<Long> before =
                    kernel.stream().map(size -> random.nextLong(0, size - 1)).toList();
            List<Long> after =
                    kernel.stream().map(size -> random.nextLong(0, size - 1)).toList();
            List<Long> dilations = RandomOps.numbers(random, axes, 1, 2);
            boolean ceil = random.nextLong(0, 1) == 0;
            long[] sizes =
                    RandomOps.join(random.nextLong(1, 2), random.nextLong(1, 3), RandomOps.numbers(random, axes, 5, 9));
            DType dtype = RandomOps.any(random, DType.F32, DType.F64, DType.F16, DType.BF16);
            PoolFn fn = RandomOps.any(random, PoolFn.values());
            Pool op = new Pool(
                    fn,
                    kernel,
                    strides,
                    before,
                    after,
                    dilations,
                    ceil,
                    random.nextLong(0, 1) == 0,
                    random.nextLong(1, 3));
            RandomOps.check(op, fn == PoolFn.MAX ? 0 : 27, List.of(random.floats(dtype, -2, 2, sizes)));
            DType any = RandomOps.any(random, DType.I8, DType.U8, DType.I64, DType.F32);
            MaxPoolIndices indices =
                    new MaxPoolIndices(kernel, strides, before, after, dilations, ceil, random.nextLong(0, 1) == 0);
            RandomOps.check(indices, 0, List.of(random.array(any, sizes)));
        }
    }

    @ParameterizedTest
    @EnumSource(CoordinateMode.class)
    void randomResizes(CoordinateMode coordinates) {
        Seeded random = new Seeded(7);
        for (int round = 0; round < 30; round++) {
            int rank = (int) random.nextLong(1, 4);
            List<Long> sizes = new ArrayList<>();
            List<Double> scales = new ArrayList<>();
            List<Double> starts = new ArrayList<>();
            List<Double> ends = new ArrayList<>();
            long[] from = new long[rank];
            for (int axis = 0; axis < rank; axis++) {
                from[axis] = random.nextLong(1, 6);
                boolean same = random.nextLong(0, 2) == 0;
                double scale = same ? 1 : random.nextLong(1, 12) / 4.0;
                sizes.add(Math.max(1, (long) (from[axis] * scale)));
                scales.add(scale);
                starts.add(random.nextLong(-2, 4) / 8.0);
                ends.add(random.nextLong(4, 10) / 8.0);
            }
            List<Double> roi = new ArrayList<>();
            if (coordinates == CoordinateMode.TF_CROP_AND_RESIZE) {
                roi.addAll(starts);
                roi.addAll(ends);
            }
            ResizeMode mode = RandomOps.any(random, ResizeMode.values());
            Resize op = new Resize(
                    mode,
                    coordinates,
                    RandomOps.any(random, NearestMode.values()),
                    -0.75,
                    random.nextLong(0, 1) == 0,
                    10,
                    random.nextLong(0, 1) == 0,
                    scales,
                    sizes,
                    roi);
            DType dtype = RandomOps.any(random, DType.F32, DType.F64, DType.F16);
            RandomOps.check(op, mode == ResizeMode.NEAREST ? 0 : 16, List.of(random.floats(dtype, -2, 2, from)));
        }
    }
}
