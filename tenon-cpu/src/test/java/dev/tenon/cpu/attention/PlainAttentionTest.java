package dev.tenon.cpu.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import dev.tenon.cpu.plan.CpuLowering;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads of several blocks of queries, every form of mask, sizes that fill no panel, against float64. */
class PlainAttentionTest {
    private final Seeded random = new Seeded(3);

    /** Batches, queries, keys, heads, elements of a head and of its values. */
    private record Sizes(int batches, int queries, int keys, int heads, int size, int sizeV) {}

    private static double maskAt(NdArray mask, int batch, int head, int query, int key) {
        int[] at = {batch, head, query, key};
        int index = 0;
        for (int axis = 0; axis < 4; axis++) {
            long size = mask.type().shape().size(axis);
            index = index * (int) size + (size == 1 ? 0 : at[axis]);
        }
        return mask.get(index);
    }

    private static void check(Sizes of, PlainAttention op, List<NdArray> inputs, int threads) {
        NdArray y = OneNode.of(op, inputs).threads(threads).run().getFirst();
        for (int b = 0; b < of.batches; b++) {
            for (int h = 0; h < of.heads; h++) {
                for (int i = 0; i < of.queries; i++) {
                    double[] weights = weights(of, op, inputs, new int[] {b, h, i});
                    for (int d = 0; d < of.sizeV; d++) {
                        double wanted = 0;
                        for (int j = 0; j < of.keys; j++) {
                            wanted += weights[j] * inputs.get(2).get(((b * of.keys + j) * of.heads + h) * of.sizeV + d);
                        }
                        double found = y.get(((b * of.queries + i) * of.heads + h) * of.sizeV + d);
                        if (Double.isNaN(wanted)) {
                            assertThat(found).isNaN();
                        } else {
                            assertThat(found).isCloseTo(wanted, Offset.offset(2e-5));
                        }
                    }
                }
            }
        }
    }

    /** Of the row of that batch, head and query. */
    private static double[] weights(Sizes of, PlainAttention op, List<NdArray> inputs, int[] row) {
        double[] weights = new double[of.keys];
        double max = Double.NEGATIVE_INFINITY;
        for (int j = 0; j < of.keys; j++) {
            for (int d = 0; d < of.size; d++) {
                weights[j] += inputs.get(0).get(((row[0] * of.queries + row[2]) * of.heads + row[1]) * of.size + d)
                        * inputs.get(1).get(((row[0] * of.keys + j) * of.heads + row[1]) * of.size + d);
            }
            double addend = op.mask() ? maskAt(inputs.get(3), row[0], row[1], row[2], j) : 0;
            weights[j] = weights[j] * op.scale() + addend;
            max = Math.max(max, weights[j]);
        }
        double sum = 0;
        for (int j = 0; j < of.keys; j++) {
            weights[j] = Math.exp(weights[j] - max);
            sum += weights[j];
        }
        for (int j = 0; j < of.keys; j++) {
            weights[j] = op.guarded() && Double.isNaN(sum) ? 0 : weights[j] / sum;
        }
        return weights;
    }

    private List<NdArray> operands(Sizes of) {
        return new ArrayList<>(List.of(
                random.array(DType.F32, of.batches, of.queries, of.heads, of.size),
                random.array(DType.F32, of.batches, of.keys, of.heads, of.size),
                random.array(DType.F32, of.batches, of.keys, of.heads, of.sizeV)));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void headsOfSeveralBlocks(int threads) {
        for (Sizes of : List.of(
                new Sizes(1, 131, 67, 2, 32, 32),
                new Sizes(2, 1, 33, 3, 5, 7),
                new Sizes(1, 600, 31, 1, 8, 40),
                new Sizes(1, 26, 1030, 2, 64, 64),
                new Sizes(1, 2, 4500, 1, 4, 3),
                new Sizes(3, 1, 1, 1, 1, 1))) {
            check(of, new PlainAttention(false, 0.3), operands(of), threads);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void everyFormOfMask(int threads) {
        Sizes of = new Sizes(2, 29, 37, 3, 16, 16);
        for (long[] mask : new long[][] {
            {1, 1, 1, 37}, {2, 1, 1, 37}, {2, 3, 29, 37}, {1, 3, 1, 37}, {1, 1, 29, 37}, {2, 1, 29, 1}, {1, 1, 1, 1}
        }) {
            List<NdArray> inputs = operands(of);
            NdArray addend = random.array(DType.F32, mask);
            for (int i = 0; i < addend.size(); i += 5) {
                addend.set(i, Double.NEGATIVE_INFINITY);
            }
            inputs.add(addend);
            check(of, new PlainAttention(true, false, 0.3, false), inputs, threads);
            check(of, new PlainAttention(true, false, 0.3, true), inputs, threads);
        }
    }

    @Test
    void valuesThatAreNoNumbers() {
        Sizes of = new Sizes(1, 30, 40, 2, 16, 16);
        for (boolean guarded : new boolean[] {false, true}) {
            List<NdArray> inputs = operands(of);
            inputs.get(0).set(5, Double.NaN);
            inputs.get(0).set(700, Double.POSITIVE_INFINITY);
            inputs.get(2).set(100, Double.NaN);
            check(of, new PlainAttention(false, false, 0.3, guarded), inputs, 1);
        }
    }

    @Test
    void nothingToAttendOrNobodyThatDoes() {
        NdArray none = OneNode.of(
                        new PlainAttention(false, 1),
                        NdArray.zeros(DType.F32, 1, 0, 2, 4),
                        random.array(DType.F32, 1, 3, 2, 4),
                        random.array(DType.F32, 1, 3, 2, 4))
                .run()
                .getFirst();
        assertThat(none.size()).isZero();
        NdArray zeros = OneNode.of(
                        new PlainAttention(false, 1),
                        random.array(DType.F32, 1, 3, 2, 4),
                        NdArray.zeros(DType.F32, 1, 0, 2, 4),
                        NdArray.zeros(DType.F32, 1, 0, 2, 4))
                .run()
                .getFirst();
        for (int i = 0; i < zeros.size(); i++) {
            assertThat(zeros.get(i)).isZero();
        }
    }

    private static boolean claims(DType dtype, long queries, long keys, long size) {
        GraphBuilder g = new GraphBuilder("one");
        Value q = g.input("q", TensorType.of(dtype, 1, queries, 2, size));
        Value k = g.input("k", TensorType.of(dtype, 1, keys, 2, size));
        Value v = g.input("v", TensorType.of(dtype, 1, keys, 2, size));
        Value y = g.add("it", new PlainAttention(false, 1), List.of(q, k, v)).getFirst();
        return y.origin() instanceof Value.Origin.Result(Node node, int _) && CpuLowering.claims(node);
    }

    @Test
    void claimsWhatItRunsSooner() {
        assertThat(claims(DType.F32, 100, 100, 64)).isTrue();
        assertThat(claims(DType.F32, 1, 1, 64)).isTrue();
        assertThat(claims(DType.F32, 1, 1000, 64)).as("a cache").isFalse();
        assertThat(claims(DType.F32, 100, 100, 5000)).as("a large head").isFalse();
        assertThat(claims(DType.F32, 100, 100_000, 64)).as("many keys").isFalse();
        assertThat(claims(DType.F16, 100, 100, 64)).as("another type").isFalse();
    }
}
