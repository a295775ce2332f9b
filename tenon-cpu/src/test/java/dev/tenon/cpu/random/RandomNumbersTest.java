package dev.tenon.cpu.random;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.random.Random;
import dev.tenon.core.ir.op.random.RandomFn;
import dev.tenon.core.ir.op.random.Sample;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import dev.tenon.cpu.RandomOps;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Random numbers and samples against their definition, bit for bit. */
class RandomNumbersTest {
    @ParameterizedTest
    @EnumSource(RandomFn.class)
    void everyNumberHasTheBitsOfTheDefinition(RandomFn fn) {
        for (DType dtype : List.of(DType.F32, DType.F64, DType.F16, DType.BF16)) {
            for (long size : new long[] {0, 1, 2, 3, 4, 5, 4095, 20_003}) {
                RandomOps.check(new Random(fn, dtype, List.of(size), -0.75, 3.5, size - 7, false), 0, List.of());
            }
            Random many = new Random(fn, dtype, List.of(7L, 1L, 5L), 1e30, 2, -1, true);
            for (long step : new long[] {0, -1, 1L << 40}) {
                RandomOps.check(many, 0, List.of(scalar(step)));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23})
    void anySample(long seed) {
        Seeded random = new Seeded(seed);
        DType dtype = RandomOps.any(random, DType.F32, DType.F64, DType.F16, DType.BF16);
        long size = RandomOps.any(random, 1L, 2L, 63L, 1000L, 5003L);
        NdArray logits =
                seed % 3 == 0 ? random.integers(dtype, -2, 3, 4, size) : random.floats(dtype, -20, 20, 4, size);
        if (seed % 4 == 1 && size > 2) {
            logits.set(1, Double.NEGATIVE_INFINITY);
            logits.set((int) size + 1, Double.POSITIVE_INFINITY);
            for (int i = 0; i < size; i++) {
                logits.set(2 * (int) size + i, Double.NEGATIVE_INFINITY);
            }
        }
        for (long topK : new long[] {0, 1, 5, size - 1, size, size + 9}) {
            for (double topP : new double[] {1, 0.875, 0.3125, 0, 2}) {
                double minP = RandomOps.any(random, 0.0, 0.0, 0.0625, 1.0);
                double temperature = RandomOps.any(random, 0.0, 0.5, 1.0, 8.0, Double.POSITIVE_INFINITY);
                RandomOps.check(
                        new Sample(), 0, inputs(logits, temperature, Math.max(0, topK), topP, minP, random.nextLong()));
            }
        }
    }

    @Test
    void badValuesAreErrors() {
        NdArray logits = new Seeded(1).array(DType.F32, 2, 5);
        for (List<NdArray> inputs : List.of(
                inputs(logits, -1, 0, 1, 0, 1),
                inputs(logits, Double.NaN, 0, 1, 0, 1),
                inputs(logits, 1, -1, 1, 0, 1),
                inputs(logits, 1, 0, -0.5, 0, 1),
                inputs(logits, 1, 0, 1, 1.5, 1))) {
            assertThatThrownBy(OneNode.of(new Sample(), inputs)::run)
                    .isInstanceOf(DataException.class)
                    .hasMessageContaining("expected 0 or more");
        }
        logits.set(7, Double.NaN);
        assertThatThrownBy(OneNode.of(new Sample(), inputs(logits, 1, 0, 1, 0, 1))::run)
                .isInstanceOf(DataException.class)
                .hasMessageContaining("logit 2 of row 1 is NaN");
    }

    private static List<NdArray> inputs(
            NdArray logits, double temperature, long topK, double topP, double minP, long seed) {
        return List.of(
                logits, scalar(temperature), scalar(topK), scalar(topP), scalar(minP), scalar(seed), scalar(seed >> 3));
    }

    private static NdArray scalar(long value) {
        return NdArray.of(TensorType.of(DType.I64), value);
    }

    private static NdArray scalar(double value) {
        return NdArray.of(TensorType.of(DType.F32), value);
    }
}
