package dev.tenon.cpu.attention;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.attention.RaggedAttention;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import dev.tenon.cpu.RandomOps;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sequences of their own lengths against the definition: empty ones, tokens of none, pages in any order. */
class RaggedAttentionTest {
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23})
    void anySequences(long seed) {
        Seeded random = new Seeded(seed);
        DType dtype = RandomOps.any(random, DType.F32, DType.F64, DType.F16, DType.BF16);
        boolean paged = seed % 2 == 1;
        boolean alibi = random.nextLong(0, 1) == 0;
        long groups = random.nextLong(1, 3);
        long heads = groups * random.nextLong(1, 4);
        long size = random.nextLong(1, 9);
        long sizeV = random.nextLong(0, 9);
        int sequences = (int) random.nextLong(0, 5);
        long page = random.nextLong(1, 4);
        long most = 3;
        NdArray offsets = NdArray.zeros(DType.I32, sequences + 1);
        NdArray keys = NdArray.zeros(DType.I32, paged ? sequences : sequences + 1);
        long tokens = random.nextLong(0, 1);
        long stored = random.nextLong(0, 2);
        offsets.set(0, tokens);
        if (!paged) {
            keys.set(0, stored);
        }
        for (int b = 0; b < sequences; b++) {
            long count = random.nextLong(0, paged ? page * most : 9);
            tokens += random.nextLong(0, 4);
            stored += count;
            offsets.set(b + 1, tokens);
            keys.set(paged ? b : b + 1, paged ? count : stored);
        }
        tokens += random.nextLong(0, 2);
        stored += random.nextLong(0, 2);
        List<NdArray> inputs = new ArrayList<>();
        inputs.add(random.array(dtype, tokens, heads, size));
        inputs.add(paged ? random.array(dtype, 5, page, groups, size) : random.array(dtype, stored, groups, size));
        inputs.add(paged ? random.array(dtype, 5, page, groups, sizeV) : random.array(dtype, stored, groups, sizeV));
        inputs.add(offsets);
        inputs.add(keys);
        if (paged) {
            inputs.add(random.integers(DType.I32, 0, 4, sequences, most));
        }
        if (alibi) {
            inputs.add(random.array(DType.F32, heads));
        }
        RaggedAttention op = new RaggedAttention(
                random.nextLong(0, 1) == 0,
                RandomOps.any(random, 0L, 1L, 3L),
                RandomOps.any(random, Double.NaN, 0.5),
                RandomOps.any(random, 0.0, 2.0),
                alibi,
                paged,
                0);
        RandomOps.check(op, size + 9, inputs);
    }

    @Test
    void valuesThatAreNotFiniteStayWhereTheyAreSeen() {
        Seeded random = new Seeded(5);
        NdArray k = random.array(DType.F32, 6, 1, 4);
        NdArray v = random.array(DType.F32, 6, 1, 4);
        k.set(9, Double.NEGATIVE_INFINITY);
        v.set(21, Double.NaN);
        NdArray offsets = NdArray.of(TensorType.of(DType.I32, 3), 0L, 3, 6);
        RaggedAttention op = new RaggedAttention(true, 0, Double.NaN, 0, false, false, 0);
        RandomOps.check(op, 8, List.of(random.array(DType.F32, 6, 2, 4), k, v, offsets, offsets));
    }

    @Test
    void offsetsThatLeaveTheirOperandAreErrors() {
        Seeded random = new Seeded(6);
        NdArray x = random.array(DType.F32, 4, 1, 2);
        RaggedAttention op = new RaggedAttention(true, 0, Double.NaN, 0, false, false, 0);
        NdArray right = NdArray.of(TensorType.of(DType.I32, 3), 0L, 2, 4);
        for (NdArray wrong : List.of(
                NdArray.of(TensorType.of(DType.I32, 3), 0L, 2, 5),
                NdArray.of(TensorType.of(DType.I32, 3), 0L, 3, 2),
                NdArray.of(TensorType.of(DType.I32, 3), -1L, 2, 4))) {
            assertThatThrownBy(OneNode.of(op, x, x, x, wrong, right)::run)
                    .isInstanceOf(DataException.class)
                    .hasMessageContaining("ragged_attention: sequence ");
            assertThatThrownBy(OneNode.of(op, x, x, x, right, wrong)::run).isInstanceOf(DataException.class);
        }
    }
}
