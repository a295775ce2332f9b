package dev.tenon.collective.inprocess;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.collective.Algorithm;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** NaN, infinities, signed zeros and means. */
final class SpecialValuesTest {
    private static final float INF = Float.POSITIVE_INFINITY;

    private static float[] reduce(Algorithm algorithm, ReduceOp op, float[]... data) {
        float[][] copies = new float[data.length][];
        try (InProcessGroup group = Groups.open(data.length, algorithm)) {
            group.run(rank -> {
                copies[rank.rank()] = data[rank.rank()].clone();
                rank.allReduce(copies[rank.rank()], op);
            });
        }
        for (float[] copy : copies) {
            for (int i = 0; i < copy.length; i++) {
                assertThat(Float.floatToRawIntBits(copy[i])).isEqualTo(Float.floatToRawIntBits(copies[0][i]));
            }
        }
        return copies[0];
    }

    /** One NaN on any rank is enough, wherever it stands. */
    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void nanWins(Algorithm algorithm) {
        for (ReduceOp op : ReduceOp.values()) {
            for (int at = 0; at < 4; at++) {
                float[][] data = {{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}};
                data[at][at] = Float.NaN;
                float[] result = reduce(algorithm, op, data);
                for (int i = 0; i < 5; i++) {
                    assertThat(Float.isNaN(result[i]))
                            .as(op + " " + at + " " + i)
                            .isEqualTo(i == at);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void infinitiesAndZeros(Algorithm algorithm) {
        assertThat(reduce(algorithm, ReduceOp.SUM, new float[] {INF, INF, -0f}, new float[] {1, -INF, -0f}))
                .containsExactly(INF, Float.NaN, -0f);
        assertThat(reduce(algorithm, ReduceOp.MAX, new float[] {-0f, -INF}, new float[] {0f, -INF}))
                .containsExactly(0f, -INF);
        assertThat(reduce(algorithm, ReduceOp.MIN, new float[] {0f, INF}, new float[] {-0f, INF}))
                .containsExactly(-0f, INF);
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void meanDividesOnce(Algorithm algorithm) {
        assertThat(reduce(
                        algorithm, ReduceOp.MEAN, new float[] {1, 4, -3}, new float[] {2, 4, -3}, new float[] {5, 4, -1
                        }))
                .containsExactly(8f / 3, 4f, -7f / 3);
    }

    /** Short floats are summed in f32: 256 + 1 + … would stay 256 if each sum were rounded to bf16. */
    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void shortFloatsAreRoundedOnce(Algorithm algorithm) {
        int world = 9;
        MemorySegment[] data = new MemorySegment[world];
        try (InProcessGroup group = Groups.open(world, algorithm)) {
            group.run(rank -> {
                MemorySegment mine = MemorySegment.ofArray(new short[11]);
                for (int i = 0; i < 11; i++) {
                    Elements.setDouble(DType.BF16, mine, i, rank.rank() == 0 ? 256 : 1);
                }
                rank.allReduce(mine, DType.BF16, ReduceOp.SUM);
                data[rank.rank()] = mine;
            });
        }
        for (MemorySegment result : data) {
            for (int i = 0; i < 11; i++) {
                assertThat(Elements.getDouble(DType.BF16, result, i)).isEqualTo(264);
            }
        }
    }

    /** Integers whose sum would not fit their own type have the right mean all the same. */
    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void integerMeanDoesNotOverflow(Algorithm algorithm) {
        for (DType dtype : new DType[] {DType.I8, DType.U8, DType.I16, DType.U16, DType.I32, DType.U32}) {
            MemorySegment[] data = new MemorySegment[3];
            try (InProcessGroup group = Groups.open(3, algorithm)) {
                group.run(rank -> {
                    MemorySegment mine = MemorySegment.ofArray(new byte[2 * dtype.bytes()]);
                    Elements.setLong(dtype, mine, 0, Elements.max(dtype));
                    Elements.setLong(dtype, mine, 1, Elements.min(dtype) + rank.rank());
                    rank.allReduce(mine, dtype, ReduceOp.MEAN);
                    data[rank.rank()] = mine;
                });
            }
            assertThat(Elements.getLong(dtype, data[1], 0)).as(dtype.toString()).isEqualTo(Elements.max(dtype));
            // the mean of min, min + 1, min + 2, which is a whole number
            assertThat(Elements.getLong(dtype, data[2], 1)).as(dtype.toString()).isEqualTo(Elements.min(dtype) + 1);
        }
    }
}
