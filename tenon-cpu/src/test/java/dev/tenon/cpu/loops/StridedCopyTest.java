package dev.tenon.cpu.loops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.RandomOps;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Copies between strided views at random, and large enough for tiles, chunks and several units. */
class StridedCopyTest {
    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F64", "F32", "BF16", "U8", "I4", "BOOL"})
    void randomViews(DType dtype) {
        Seeded random = new Seeded(dtype.bits());
        for (int round = 0; round < 60; round++) {
            int rank = (int) random.nextLong(0, 5);
            long[] sizes = RandomOps.numbers(random, rank, 1, 6).stream()
                    .mapToLong(Long::longValue)
                    .toArray();
            NdArray x = random.array(dtype, sizes);
            List<Integer> permutation =
                    new ArrayList<>(IntStream.range(0, rank).boxed().toList());
            Collections.shuffle(permutation, new Random(round));
            RandomOps.check(new Transpose(permutation), 0, List.of(x));
            RandomOps.check(slice(random, sizes), 0, List.of(x));
            RandomOps.check(pad(random, sizes), 0, List.of(x));
            long[] narrow = sizes.clone();
            for (int axis = 0; axis < rank; axis++) {
                narrow[axis] = random.nextLong(0, 1) == 0 ? 1 : sizes[axis];
            }
            List<Long> wide = new ArrayList<>(RandomOps.numbers(random, (int) random.nextLong(0, 2), 1, 3));
            for (long size : sizes) {
                wide.add(size);
            }
            RandomOps.check(new Expand(wide), 0, List.of(random.array(dtype, narrow)));
            if (rank > 0) {
                int axis = (int) random.nextLong(0, rank - 1);
                long[] other = sizes.clone();
                other[axis] = random.nextLong(0, 4);
                RandomOps.check(new Concat(axis), 0, List.of(x, random.array(dtype, other), x));
            }
        }
    }

    private static Slice slice(Seeded random, long[] sizes) {
        List<Long> starts = new ArrayList<>();
        List<Long> counts = new ArrayList<>();
        List<Long> steps = new ArrayList<>();
        for (long size : sizes) {
            long start = random.nextLong(0, size - 1);
            long step = random.nextLong(1, 3) * (random.nextLong(0, 1) == 0 ? 1 : -1);
            long room = step > 0 ? size - 1 - start : start;
            starts.add(start);
            steps.add(step);
            counts.add(random.nextLong(0, room / Math.abs(step) + 1));
        }
        return new Slice(starts, counts, steps);
    }

    private static Pad pad(Seeded random, long[] sizes) {
        PadMode mode = RandomOps.any(random, PadMode.values());
        List<Long> before = new ArrayList<>();
        List<Long> after = new ArrayList<>();
        for (long size : sizes) {
            boolean touched = random.nextLong(0, 2) > 0;
            long least = mode == PadMode.CONSTANT ? -(size / 2) : 0; // the other modes crop by a slice
            before.add(touched ? random.nextLong(least, 2 * size) : 0);
            after.add(touched ? random.nextLong(least, 2 * size) : 0);
        }
        return new Pad(mode, before, after);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 15, 16, 17, 33, 100, 257})
    void largeTransposes(long rows) {
        Seeded random = new Seeded(rows);
        for (DType dtype : List.of(DType.F64, DType.F32, DType.F16, DType.I8)) {
            RandomOps.check(new Transpose(List.of(1, 0)), 0, List.of(random.array(dtype, rows, 301)));
            RandomOps.check(new Transpose(List.of(0, 2, 1)), 0, List.of(random.array(dtype, 3, rows, 70)));
            RandomOps.check(new Transpose(List.of(0, 2, 1, 3)), 0, List.of(random.array(dtype, 2, rows, 3, 65)));
            RandomOps.check(new Transpose(List.of(0, 2, 3, 1)), 0, List.of(random.array(dtype, 2, rows, 5, 13)));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 8191, 8192, 8193, 50_000})
    void longRuns(long length) {
        Seeded random = new Seeded(length);
        NdArray x = random.array(DType.F32, 3, length);
        RandomOps.check(new Concat(1), 0, List.of(x, x));
        RandomOps.check(new Slice(List.of(2L, 0L), List.of(3L, length), List.of(-1L, 1L)), 0, List.of(x));
        RandomOps.check(new Expand(List.of(2L, 3L, length)), 0, List.of(x));
        RandomOps.check(new Expand(List.of(3L, length)), 0, List.of(random.array(DType.F32, 3, 1)));
    }

    /** Rows of the result that are aligned, and rows that are not, of every width. */
    @ParameterizedTest
    @ValueSource(longs = {2880, 2896, 2903})
    void transposesThatGoPastTheCaches(long rows) {
        for (DType dtype : List.of(DType.F64, DType.F32, DType.F16, DType.I8)) {
            long columns = (StridedCopy.STREAM_BYTES / dtype.bytes() / rows + 22) | 1;
            for (int skipped : new int[] {0, dtype.bytes(), 24}) {
                transposesPastTheCaches(dtype, rows, columns, skipped);
            }
        }
    }

    private static void transposesPastTheCaches(DType dtype, long rows, long columns, long skipped) {
        int width = dtype.bytes();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(width * rows * columns, 64);
            MemorySegment all = arena.allocate(width * rows * columns + 128, 64).fill((byte) 0x55);
            MemorySegment to = all.asSlice(skipped, width * rows * columns);
            for (long i = 0; i < rows * columns; i++) {
                write(from, width, i, i * 0x9E3779B97F4A7C15L >>> 20);
            }
            StridedCopy copy = new StridedCopy(
                    dtype, new long[] {columns, rows}, 0, new long[] {1, columns}, 0, new long[] {rows, 1});
            List<Long> units =
                    new ArrayList<>(LongStream.range(0, copy.units()).boxed().toList());
            Collections.shuffle(units, new Random(rows));
            units.forEach(unit -> copy.run(from, to, unit, unit + 1));
            assertThat(all.asSlice(0, skipped).mismatch(all.asSlice(skipped + to.byteSize(), skipped)))
                    .isEqualTo(-1);
            for (long i = 0; i < rows * columns; i++) {
                long wanted = read(from, width, i % rows * columns + i / rows);
                if (read(to, width, i) != wanted) {
                    throw new AssertionError(dtype + " element " + i + " is " + read(to, width, i) + ", not " + wanted);
                }
            }
        }
    }

    private static void write(MemorySegment to, int width, long index, long bits) {
        switch (width) {
            case 1 -> to.set(Raw.I8, index, (byte) bits);
            case 2 -> to.set(Raw.I16, 2 * index, (short) bits);
            case 4 -> to.set(Raw.I32, 4 * index, (int) bits);
            default -> to.set(Raw.I64, 8 * index, bits);
        }
    }

    private static long read(MemorySegment from, int width, long index) {
        return switch (width) {
            case 1 -> from.get(Raw.I8, index);
            case 2 -> from.get(Raw.I16, 2 * index);
            case 4 -> from.get(Raw.I32, 4 * index);
            default -> from.get(Raw.I64, 8 * index);
        };
    }
}
