package dev.tenon.collective.inprocess;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.collective.Algorithm;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.testkit.Seeded;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every algorithm, world, length, element type and reduction against a fold in float64 or exact integers. */
final class AllReduceTest {
    private static final int[] LENGTHS = {0, 1, 2, 3, 5, 7, 15, 16, 17, 31, 32, 33, 127, 1023, 2048, 4099};
    private static final Set<DType> WITHOUT_SUMS = EnumSet.of(DType.BOOL, DType.I4, DType.U4);

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void tinyExample(Algorithm algorithm) {
        float[][] data = {{10, 20, 30}, {1, 2, 3}, {4, 5, 6}};
        try (InProcessGroup group = Groups.open(3, algorithm)) {
            group.run(rank -> rank.allReduce(data[rank.rank()], ReduceOp.SUM));
        }
        assertThat(data).isDeepEqualTo(new float[][] {{15, 27, 39}, {15, 27, 39}, {15, 27, 39}});
    }

    /** AR-01. */
    @ParameterizedTest
    @EnumSource(Algorithm.class)
    @DisplayName("AR-01 any length")
    void anyLength(Algorithm algorithm) {
        for (int world : new int[] {4, 1, 3}) {
            try (InProcessGroup group = Groups.open(world, algorithm)) {
                for (int length : new int[] {0, 1, 2, 3, 5, 7, 1_000_003}) {
                    for (boolean inPlace : new boolean[] {true, false}) {
                        anyLengthOfFloats(group, length, inPlace);
                        anyLengthOfInts(group, length, inPlace);
                    }
                }
            }
        }
    }

    private static void anyLengthOfFloats(InProcessGroup group, int length, boolean inPlace) {
        float[][] results = new float[group.world()][];
        group.run(rank -> {
            float[] source = new float[length];
            for (int i = 0; i < length; i++) {
                source[i] = 10f * rank.rank() + i;
            }
            float[] target = inPlace ? source : new float[length];
            rank.allReduce(source, target, ReduceOp.SUM);
            results[rank.rank()] = target;
        });
        int world = group.world();
        for (float[] result : results) {
            for (int i = 0; i < length; i++) {
                // 60 + 4i for four ranks; whole numbers below 2^24
                if (result[i] != world * i + 10 * world * (world - 1) / 2) {
                    assertThat(result[i])
                            .as(world + " x " + length + " element " + i)
                            .isEqualTo(world * (i + 5f * (world - 1)));
                }
            }
        }
    }

    private static void anyLengthOfInts(InProcessGroup group, int length, boolean inPlace) {
        int[][] results = new int[group.world()][];
        group.run(rank -> {
            int[] source = new int[length];
            Arrays.setAll(source, i -> i + 10 * rank.rank());
            int[] target = inPlace ? source : new int[length];
            HostBuffer from = HostBuffer.of(source);
            rank.allReduce(from, inPlace ? from : HostBuffer.of(target), ReduceOp.SUM);
            results[rank.rank()] = target;
        });
        int world = group.world();
        int[] expected = new int[length];
        Arrays.setAll(expected, i -> world * i + 10 * world * (world - 1) / 2); // 60 + 4i for four ranks
        for (int[] result : results) {
            assertThat(result).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void everyWorldAndLength(Algorithm algorithm) {
        for (int world = 1; world <= 16; world++) {
            try (InProcessGroup group = Groups.open(world, algorithm)) {
                for (int length : LENGTHS) {
                    for (DType dtype : new DType[] {DType.F32, DType.F64, DType.I32, DType.BF16}) {
                        check(group, dtype, ReduceOp.SUM, length, length * 31L + world, (length & 1) == 0);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void everyTypeAndReduction(Algorithm algorithm) {
        for (int world : new int[] {2, 3, 5, 8}) {
            try (InProcessGroup group = Groups.open(world, algorithm)) {
                for (DType dtype : EnumSet.complementOf(EnumSet.copyOf(WITHOUT_SUMS))) {
                    for (ReduceOp op : ReduceOp.values()) {
                        check(group, dtype, op, 1 + world * 7, world, true);
                        check(group, dtype, op, 1031, world + 1L, false);
                    }
                }
            }
        }
    }

    /** Runs of the same thing, on rank threads that the scheduler orders anew each time. */
    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void sameBitsInEveryRun(Algorithm algorithm) {
        try (InProcessGroup group = Groups.open(5, algorithm)) {
            MemorySegment first = reduce(group, inputs(5, DType.F32, 5003, 7), DType.F32, ReduceOp.SUM, true)[0];
            for (int run = 0; run < 50; run++) {
                MemorySegment again = reduce(group, inputs(5, DType.F32, 5003, 7), DType.F32, ReduceOp.SUM, true)[4];
                assertThat(again.mismatch(first)).isEqualTo(-1);
            }
        }
    }

    @Test
    void directHasTheBitsOfTheRing() {
        for (int world = 1; world <= 16; world++) {
            for (DType dtype : new DType[] {DType.F32, DType.F64, DType.F16, DType.BF16}) {
                for (int length : new int[] {3, 1000, world == 16 ? 300_007 : 131_101}) {
                    MemorySegment[] in = inputs(world, dtype, length, 11L * world + length);
                    try (InProcessGroup ring = Groups.open(world, Algorithm.RING);
                            InProcessGroup direct = Groups.open(world, Algorithm.DIRECT)) {
                        MemorySegment one = reduce(ring, in, dtype, ReduceOp.SUM, false)[0];
                        MemorySegment other = reduce(direct, in, dtype, ReduceOp.SUM, false)[0];
                        assertThat(one.mismatch(other))
                                .as(world + " x " + length + " " + dtype)
                                .isEqualTo(-1);
                    }
                }
            }
        }
    }

    /** Arrays and memory outside the heap in one operation, and elements that begin inside an array. */
    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void anyMemory(Algorithm algorithm) {
        float[] whole = {1, 2, 3, 4, 5};
        float[] part = {-1, 10, 20, 30, 40, 50, -1};
        MemorySegment outside = Arena.ofAuto().allocate(21).asSlice(1); // at no alignment
        for (int i = 0; i < 5; i++) {
            Elements.setDouble(DType.F32, outside, i, 100 * (i + 1));
        }
        HostBuffer[] buffers = {HostBuffer.of(whole), HostBuffer.of(part).slice(1, 5), HostBuffer.of(outside, DType.F32)
        };
        try (InProcessGroup group = Groups.open(3, algorithm)) {
            group.run(rank -> rank.allReduce(buffers[rank.rank()], buffers[rank.rank()], ReduceOp.SUM));
        }
        assertThat(whole).containsExactly(111, 222, 333, 444, 555);
        assertThat(part).containsExactly(-1, 111, 222, 333, 444, 555, -1);
        assertThat(buffers[2].memory().mismatch(MemorySegment.ofArray(whole))).isEqualTo(-1);
    }

    private static MemorySegment[] inputs(int world, DType dtype, int length, long seed) {
        Seeded random = new Seeded(seed);
        MemorySegment[] inputs = new MemorySegment[world];
        for (int rank = 0; rank < world; rank++) {
            inputs[rank] = MemorySegment.ofArray(new byte[length * dtype.bytes()]);
            for (int i = 0; i < length; i++) {
                if (dtype.isFloat()) {
                    Elements.setDouble(dtype, inputs[rank], i, 4 * random.nextDouble() - 2);
                } else {
                    Elements.setLong(dtype, inputs[rank], i, random.nextLong());
                }
            }
        }
        return inputs;
    }

    private static MemorySegment[] reduce(
            InProcessGroup group, MemorySegment[] inputs, DType dtype, ReduceOp op, boolean inPlace) {
        MemorySegment[] results = new MemorySegment[group.world()];
        group.run(rank -> {
            MemorySegment input = inputs[rank.rank()];
            MemorySegment target = inPlace ? input : like(input, dtype);
            if (inPlace) {
                rank.allReduce(input, dtype, op);
            } else {
                target.fill((byte) 0xFF);
                rank.allReduce(input, target, dtype, op);
            }
            results[rank.rank()] = target;
        });
        return results;
    }

    /**
     * On the heap an array of the type itself, so that both the loops over arrays and those over any memory are met.
     */
    private static MemorySegment like(MemorySegment memory, DType dtype) {
        int length = (int) memory.byteSize() / dtype.bytes();
        return switch (dtype) {
            case F32 -> MemorySegment.ofArray(new float[length]);
            case F64 -> MemorySegment.ofArray(new double[length]);
            default -> Arena.ofAuto().allocate(memory.byteSize());
        };
    }

    private static void check(InProcessGroup group, DType dtype, ReduceOp op, int length, long seed, boolean inPlace) {
        MemorySegment[] kept = inputs(group.world(), dtype, length, seed);
        MemorySegment[] given = inputs(group.world(), dtype, length, seed);
        MemorySegment[] results = reduce(group, given, dtype, op, inPlace);
        String what = group.world() + " x " + length + " " + dtype + " " + op + (inPlace ? " in place" : "");
        Expected.assertReduced(what, results[0], kept, dtype, op, length);
        for (int rank = 0; rank < group.world(); rank++) {
            assertThat(results[rank].mismatch(results[0]))
                    .as(what + " on rank " + rank)
                    .isEqualTo(-1);
            assertThat(inPlace || given[rank].mismatch(kept[rank]) == -1)
                    .as(what + ": source")
                    .isTrue();
        }
    }
}
