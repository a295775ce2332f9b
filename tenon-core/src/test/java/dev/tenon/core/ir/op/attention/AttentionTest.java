package dev.tenon.core.ir.op.attention;

import static dev.tenon.core.ir.op.Nd.check;
import static dev.tenon.core.ir.op.Nd.f32;
import static dev.tenon.core.ir.op.Nd.full;
import static dev.tenon.core.ir.op.Nd.ints;
import static dev.tenon.core.ir.op.Nd.run;
import static dev.tenon.core.ir.op.Nd.shape;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Attention and Rope against numbers worked out by hand. */
class AttentionTest {
    private static final double NAN = Double.NaN;

    private static Attention causal(long window) {
        return new Attention(true, window, AttentionMask.NONE, NAN, 0);
    }

    /** One head of size 1. */
    private static NdArray line(double... values) {
        return f32(shape(1, 1, values.length, 1), values);
    }

    private static NdArray zeros(int length) {
        return full(shape(1, 1, length, 1), 0);
    }

    @Test
    void causalityIsAlignedAtTheLastKey() {
        check(run(causal(0), zeros(2), zeros(5), line(1, 2, 3, 4, 5)), shape(1, 1, 2, 1), 2.5, 3);
        check(run(causal(0), zeros(5), zeros(2), line(10, 20)), shape(1, 1, 5, 1), 0, 0, 0, 10, 15);
        check(run(causal(0), zeros(1), zeros(5), line(1, 2, 3, 4, 5)), shape(1, 1, 1, 1), 3);
    }

    @Test
    void aRowThatSeesNothingIsZeroAndOneThatSeesNaNIsNaN() {
        NdArray mask = ints(DType.BOOL, shape(3, 3), 0, 0, 0, 1, 0, 1, 1, 1, 1);
        Attention plain = new Attention(false, 0, AttentionMask.BOOLEAN, NAN, 0);
        Attention both = new Attention(true, 0, AttentionMask.BOOLEAN, NAN, 0);
        check(run(plain, zeros(3), zeros(3), line(1, 2, 3), mask), shape(1, 1, 3, 1), 0, 2, 2);
        check(run(both, zeros(3), zeros(3), line(1, 2, 3), mask), shape(1, 1, 3, 1), 0, 1, 2);
        check(run(plain, zeros(3), line(NAN, 0, 0), line(1, 2, 3), mask), shape(1, 1, 3, 1), 0, NAN, NAN);
        NdArray first = ints(DType.BOOL, shape(1, 2), 1, 0);
        Attention unscaled = new Attention(false, 0, AttentionMask.BOOLEAN, 1, 0);
        check(run(unscaled, line(-20000), line(1, 0), line(1, 100), first), shape(1, 1, 1, 1), 1);
        // what is not seen has no part, not even 0 times it
        check(run(unscaled, line(1), line(1, 0), line(1, NAN), first), shape(1, 1, 1, 1), 1);
    }

    @Test
    void additiveMasksAndSoftCaps() {
        Attention additive = new Attention(false, 0, AttentionMask.ADDITIVE, 1, 0);
        double inf = Double.NEGATIVE_INFINITY;
        NdArray mask = f32(shape(2, 2), inf, inf, 0, Math.log(3));
        check(run(additive, zeros(2), zeros(2), line(0, 4), mask), shape(1, 1, 2, 1), 0, 3);
        // the cap comes before the mask: capped scores 0 and 2 tanh(50), and a mask of -inf stays one
        Attention capped = new Attention(false, 0, AttentionMask.ADDITIVE, 1, 2);
        check(
                run(capped, line(10, 10), line(0, 10), line(0, 1), f32(shape(2, 2), 0, 0, 0, inf)),
                shape(1, 1, 2, 1),
                1 / (1 + Math.exp(-2)),
                0);
    }

    @Test
    void queryHeadsShareKeyHeadsInGroups() {
        NdArray v = f32(shape(1, 2, 1, 2), 10, 10, 20, 20);
        NdArray y = run(
                new Attention(false, 0, AttentionMask.NONE, NAN, 0),
                full(shape(1, 4, 1, 2), 1),
                full(shape(1, 2, 1, 2), 1),
                v);
        check(y, shape(1, 4, 1, 2), 10, 10, 10, 10, 20, 20, 20, 20);
    }

    @Test
    void theWindowCountsTheCurrentToken() {
        NdArray v = line(0, 1, 2, 3, 4, 5);
        check(run(causal(3), zeros(6), zeros(6), v), shape(1, 1, 6, 1), 0, 0.5, 1, 2, 3, 4);
        check(run(causal(1), zeros(6), zeros(6), v), shape(1, 1, 6, 1), 0, 1, 2, 3, 4, 5);
        double[] all = run(causal(0), zeros(6), zeros(6), v).toDoubles();
        assertThat(all).containsExactly(0, 0.5, 1, 1.5, 2, 2.5);
        assertThat(run(causal(6), zeros(6), zeros(6), v).toDoubles()).isEqualTo(all);
        assertThat(run(causal(100), zeros(6), zeros(6), v).toDoubles()).isEqualTo(all);
        check(run(causal(3), zeros(1), zeros(6), v), shape(1, 1, 1, 1), 4);
    }

    @Test
    void headsOfAnySize() {
        for (int size : new int[] {1, 80, 256, 512}) {
            NdArray k = full(shape(1, 1, 2, size), 0);
            NdArray v = full(shape(1, 1, 2, size), 0);
            for (int i = size; i < 2 * size; i++) {
                k.set(i, Math.log(3) / Math.sqrt(size));
                v.set(i, 4);
            }
            Attention op = new Attention(false, 0, AttentionMask.NONE, NAN, 0);
            double[] threes = new double[size];
            Arrays.fill(threes, 3);
            check(run(op, full(shape(1, 1, 1, size), 1), k, v), shape(1, 1, 1, size), threes);
        }
    }

    @Test
    void shapes() {
        Attention op = new Attention(false, 0, AttentionMask.BOOLEAN, NAN, 0);
        Shape q = Shape.of(Dim.named("b"), Dim.of(8), Dim.named("n"), Dim.of(64));
        Shape k = Shape.of(Dim.unknown(), Dim.of(2), Dim.named("m"), Dim.of(64));
        Shape v = k.with(3, Dim.of(32));
        assertThat(op.shapes(List.of(q, k, v, shape(1, 1)))).containsExactly(q.with(3, Dim.of(32)));
        assertThatThrownBy(() -> op.shapes(List.of(q, k.with(1, Dim.of(3)), v.with(1, Dim.of(3)), shape(1, 1))))
                .hasMessageContaining("not a multiple");
        assertThatThrownBy(() -> op.shapes(List.of(q, k, v, shape(3, 1, 1))))
                .hasMessageContaining("does not broadcast");
    }

    /** Two sequences of two and one tokens, the same as an attention each; a slope, and pages in another order. */
    @Test
    void raggedAttentionIsAnAttentionEachSequence() {
        NdArray q = f32(shape(3, 1, 2), 1, 0, 0, 1, 1, 1);
        NdArray k = f32(shape(4, 1, 2), 1, 0, 0, 1, 1, 1, -1, 2);
        NdArray v = f32(shape(4, 1, 1), 1, 2, 4, 8);
        NdArray offsets = NdArray.of(TensorType.of(DType.I32, 3), 0L, 2L, 3L);
        NdArray keyOffsets = NdArray.of(TensorType.of(DType.I32, 3), 0L, 2L, 4L);
        double one = (Math.E + 2) / (Math.E + 1); // scores 1 and 0 of values 1 and 2
        double two = (1 + 2 * Math.E) / (1 + Math.E);
        double three = (4 * Math.E + 8) / (Math.E + 1); // scores 2 and 1 of values 4 and 8
        RaggedAttention plain = new RaggedAttention(false, 0, 1, 0, false, false, 2);
        check(run(plain, q, k, v, offsets, keyOffsets), shape(3, 1, 1), one, two, three);
        RaggedAttention causal = new RaggedAttention(true, 0, 1, 0, false, false, 0);
        check(run(causal, q, k, v, offsets, keyOffsets), shape(3, 1, 1), 1, two, three);
        // a slope of 1: the key before a query loses 1, which makes the scores of the last query equal
        RaggedAttention alibi = new RaggedAttention(true, 0, 1, 0, true, false, 0);
        double farther = (1 / Math.E + 2 * Math.E) / (1 / Math.E + Math.E);
        check(run(alibi, q, k, v, offsets, keyOffsets, f32(1)), shape(3, 1, 1), 1, farther, 6);
        NdArray keys = f32(shape(3, 1, 1, 2), 1, 1, -1, 2, 1, 0);
        NdArray values = f32(shape(3, 1, 1, 1), 4, 8, 1);
        NdArray lengths = NdArray.of(TensorType.of(DType.I32, 2), 1L, 2L);
        NdArray pages = NdArray.of(TensorType.of(DType.I32, 2, 2), 2L, -1L, 0L, 1L);
        RaggedAttention paged = new RaggedAttention(false, 0, 1, 0, false, true, 0);
        check(run(paged, q, keys, values, offsets, lengths, pages), shape(3, 1, 1), 1, 1, three);
        NdArray wrong = NdArray.of(TensorType.of(DType.I32, 2, 2), 2L, -1L, 0L, 3L);
        assertThatThrownBy(() -> run(paged, q, keys, values, offsets, lengths, wrong))
                .isInstanceOf(DataException.class)
                .hasMessageContaining("sequence 1 has pages that there are not");
    }

    @Test
    void ropeTurnsHalvesOrNeighbours() {
        NdArray x = f32(shape(1, 4), 1, 2, 3, 4);
        NdArray cos = f32(shape(1, 2), Math.cos(1), Math.cos(0.01));
        NdArray sin = f32(shape(1, 2), Math.sin(1), Math.sin(0.01));
        check(run(new Rope(false, 0), x, cos, sin), shape(1, 4), -1.98411065, 1.95990067, 2.46237790, 4.01979967);
        check(run(new Rope(true, 0), x, cos, sin), shape(1, 4), -1.14263966, 1.92207560, 2.95985067, 4.02979950);
        check(run(new Rope(false, 0), x, f32(1, 1), f32(0, 0)), shape(1, 4), 1, 2, 3, 4);
        check(
                run(new Rope(false, 4), f32(shape(1, 6), 1, 2, 3, 4, 5, 6), cos, sin),
                shape(1, 6),
                -1.98411065,
                1.95990067,
                2.46237790,
                4.01979967,
                5,
                6);
    }
}
