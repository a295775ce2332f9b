package dev.tenon.cpu.search;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.searching.BoxSelection;
import dev.tenon.core.ir.op.searching.NonZeroIndices;
import dev.tenon.core.ir.op.searching.UniqueIndices;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.RandomOps;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Searches against their definition, bit for bit: sizes about those of chunks and parts, every type, odd values. */
class SearchTest {
    private static final double[] ODD = {0, -0.0, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 1};

    private static double odd(Seeded random, DType dtype) {
        return Tolerance.rounded(dtype, ODD[(int) random.nextLong(0, ODD.length - 1)]);
    }

    /** Elements of few values, of which floats may be odd ones. */
    private static NdArray few(Seeded random, DType dtype, long values, long... sizes) {
        NdArray array = NdArray.zeros(dtype, sizes);
        long least = dtype.isUnsigned() || dtype == DType.BOOL ? 0 : -values / 2;
        for (int i = 0; i < array.size(); i++) {
            if (dtype.isFloat() && random.nextLong(0, 3) == 0) {
                array.set(i, odd(random, dtype));
            } else {
                array.set(i, random.nextLong(least, least + values));
            }
        }
        return array;
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void nonZeroOfEveryType(DType dtype) {
        Seeded random = new Seeded(dtype.ordinal());
        for (long[] sizes : new long[][] {{}, {0}, {1}, {2, 0, 3}, {7}, {1, 1, 1}, {5, 1, 3}, {2, 3, 4, 5, 2}}) {
            RandomOps.check(new NonZeroIndices(), 0, List.of(few(random, dtype, 3, sizes)));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1023, 1024, 1025, 16_383, 16_384, 16_385, 70_001})
    void nonZeroOfManyChunks(long elements) {
        Seeded random = new Seeded(elements);
        RandomOps.check(new NonZeroIndices(), 0, List.of(few(random, DType.F32, 2, elements)));
        RandomOps.check(new NonZeroIndices(), 0, List.of(few(random, DType.I8, 40, 3, elements / 3, 1)));
        RandomOps.check(new NonZeroIndices(), 0, List.of(NdArray.zeros(DType.I64, elements)));
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void uniqueOfEveryType(DType dtype) {
        Seeded random = new Seeded(dtype.ordinal());
        for (boolean sorted : List.of(true, false)) {
            for (long size : new long[] {0, 1, 2, 37}) {
                RandomOps.check(new UniqueIndices(0, sorted), 0, List.of(few(random, dtype, 6, size)));
                RandomOps.check(new UniqueIndices(1, sorted), 0, List.of(few(random, dtype, 1, 2, size, 2)));
                RandomOps.check(new UniqueIndices(0, sorted), 0, List.of(few(random, dtype, 1, size, 0)));
            }
            NdArray wide = NdArray.zeros(dtype, 301);
            for (int i = 0; i < wide.size(); i++) {
                long value = random.nextLong() >> random.nextLong(0, 63);
                if (dtype.isFloat()) {
                    wide.set(i, Tolerance.rounded(dtype, value));
                } else {
                    wide.set(i, value);
                }
            }
            RandomOps.check(new UniqueIndices(0, sorted), 0, List.of(wide));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {16_384, 33_001, 70_001})
    void uniqueOfManyParts(long size) {
        Seeded random = new Seeded(size);
        for (boolean sorted : List.of(true, false)) {
            UniqueIndices op = new UniqueIndices(0, sorted);
            RandomOps.check(op, 0, List.of(random.shuffled(DType.F32, size)));
            RandomOps.check(op, 0, List.of(few(random, DType.F64, size, size)));
            RandomOps.check(op, 0, List.of(random.integers(DType.U64, Long.MIN_VALUE / 2, Long.MAX_VALUE / 2, size)));
            RandomOps.check(op, 0, List.of(few(random, DType.F16, 90, size, 2)));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
    void boxesOfAnySizes(long seed) {
        Seeded random = new Seeded(seed);
        DType dtype = RandomOps.any(random, DType.F32, DType.F64, DType.F16, DType.BF16);
        long batch = random.nextLong(0, 3);
        long classes = random.nextLong(0, 4);
        long boxes = seed % 4 == 3 ? 0 : random.nextLong(1, 120);
        NdArray corners = random.floats(dtype, -1, 3, batch, boxes, 4);
        NdArray scores = few(random, dtype, 20, batch, classes, boxes);
        for (int i = 0; i < corners.size(); i += 41) {
            corners.set(i, odd(random, dtype));
        }
        for (double overlap : new double[] {0.25, 0, -1, 1, Double.NaN}) {
            for (double least : new double[] {2, -4, Double.NEGATIVE_INFINITY, Double.NaN}) {
                BoxSelection op =
                        new BoxSelection(RandomOps.any(random, 0L, 1L, 7L, Long.MAX_VALUE), random.nextLong(0, 1) == 0);
                RandomOps.check(op, 0, List.of(corners, scores, scalar(dtype, overlap), scalar(dtype, least)));
            }
        }
    }

    private static NdArray scalar(DType dtype, double value) {
        return NdArray.of(TensorType.of(dtype), value);
    }
}
