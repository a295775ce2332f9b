package dev.tenon.cpu.indexing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import dev.tenon.cpu.RandomOps;
import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Known hard cases of gathers, scatters, scans, selections and concatenations. */
class IndexedOpsTest {
    private static NdArray f32(double... values) {
        return NdArray.of(TensorType.of(DType.F32, values.length), values);
    }

    private static NdArray indices(DType dtype, long... values) {
        return NdArray.of(TensorType.of(dtype, values.length), values);
    }

    private static NdArray first(OneNode node) {
        return node.run().getFirst();
    }

    /** GA-01: negative indices count from the end. */
    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"I32", "I64"})
    void gathersFromBothEnds(DType dtype) {
        NdArray data = f32(10, 20, 30);
        assertThat(first(OneNode.of(new Gather(0), data, indices(dtype, -1, -3, 1)))
                        .toDoubles())
                .containsExactly(30, 10, 20);
        assertThat(first(OneNode.of(new Gather(0), data, indices(dtype))).size())
                .isZero();
        NdArray rows = NdArray.of(TensorType.of(DType.F32, 2, 3), 1, 2, 3, 4, 5, 6.0);
        assertThat(first(OneNode.of(new Gather(1), rows, indices(dtype, -1, 0))).toDoubles())
                .containsExactly(3, 1, 6, 4);
    }

    /** GA-01: indices are checked as 64-bit numbers, 2^32 - 1 is not -1. */
    @ParameterizedTest
    @ValueSource(longs = {3, -4, 4294967295L, Long.MAX_VALUE, Long.MIN_VALUE})
    void indicesOutOfRange(long index) {
        NdArray data = f32(10, 20, 30);
        NdArray at = indices(DType.I64, index);
        NdArray tuple = NdArray.of(TensorType.of(DType.I64, 1, 1), index);
        String message = "index " + index + " is out of range for axis 0 of size 3";
        for (OneNode node : List.of(
                OneNode.of(new Gather(0), data, at),
                OneNode.of(new GatherElements(0), data, at),
                OneNode.of(new GatherNd(0), data, tuple),
                OneNode.of(new ScatterElements(0, ScatterFn.ADD), data, at, f32(1)),
                OneNode.of(new ScatterNd(ScatterFn.ADD), data, tuple, f32(1)))) {
            assertThatThrownBy(() -> node.threads(2).run())
                    .isInstanceOf(DataException.class)
                    .hasMessageContaining(message)
                    .hasMessageEndingWith("(node \"it\")");
        }
    }

    /** SA-01 a: the sum is in index order, bit for bit, whatever the number of threads. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8, 16})
    void scatterAddsInOrder(int threads) {
        NdArray updates = f32(1e8, 1, -1e8, 1);
        for (int run = 0; run < 100 / threads; run++) {
            NdArray elements = first(
                    OneNode.of(new ScatterElements(0, ScatterFn.ADD), f32(0), indices(DType.I64, 0, 0, 0, 0), updates)
                            .threads(threads));
            assertThat(elements.toDoubles()).containsExactly(1);
            NdArray tuples = NdArray.zeros(DType.I64, 4, 1);
            assertThat(first(OneNode.of(new ScatterNd(ScatterFn.ADD), f32(0), tuples, updates)
                                    .threads(threads))
                            .toDoubles())
                    .containsExactly(1);
        }
    }

    /** SA-01 b to e: many updates of one cell, in f32, bf16 and i64, and a cell counted from the end. */
    @ParameterizedTest
    @CsvSource({"F32, 1000000, 0", "BF16, 1000, 0", "F16, 1000, 0", "I64, 1000000, 0", "F32, 3, -1"})
    void scatterAddsAll(DType dtype, int count, long index) {
        NdArray data = NdArray.zeros(dtype, 2);
        NdArray at = NdArray.zeros(DType.I64, count);
        NdArray tuples = NdArray.zeros(DType.I64, count, 1);
        NdArray updates = NdArray.zeros(dtype, count);
        for (int i = 0; i < count; i++) {
            at.set(i, index);
            tuples.set(i, index);
            updates.set(i, 1L);
        }
        double[] expected = index < 0 ? new double[] {0, count} : new double[] {count, 0};
        assertThat(first(OneNode.of(new ScatterElements(0, ScatterFn.ADD), data, at, updates)
                                .threads(3))
                        .toDoubles())
                .containsExactly(expected);
        assertThat(first(OneNode.of(new ScatterNd(ScatterFn.ADD), data, tuples, updates)
                                .threads(3))
                        .toDoubles())
                .containsExactly(expected);
    }

    /**
     * Many targets, several ranges and lanes: the same bits with any number of threads, and as the reference has them.
     */
    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F32", "BF16", "I32"})
    void largeScatters(DType dtype) {
        Seeded random = new Seeded(5);
        NdArray data = random.array(dtype, 3000, 12);
        NdArray rows = random.integers(DType.I64, -3000, 2999, 5000, 1);
        RandomOps.check(new ScatterNd(ScatterFn.ADD), 8, List.of(data, rows, random.array(dtype, 5000, 12)));
        NdArray each = random.integers(DType.I64, -3000, 2999, 4000, 10);
        RandomOps.check(new ScatterElements(0, ScatterFn.ADD), 8, List.of(data, each, random.array(dtype, 4000, 10)));
        NdArray wide = random.array(dtype, 8, 1500);
        NdArray along = random.integers(DType.I64, 0, 7, 5, 1500);
        RandomOps.check(new ScatterElements(0, ScatterFn.MUL), 8, List.of(wide, along, random.array(dtype, 5, 1500)));
    }

    /** CS-01. */
    @ParameterizedTest
    @CsvSource({
        "false, false, 1 3 6 10 15",
        "true, false, 0 1 3 6 10",
        "false, true, 15 14 12 9 5",
        "true, true, 14 12 9 5 0"
    })
    void runningSums(boolean exclusive, boolean reverse, String expected) {
        Cumulative op = new Cumulative(CumulativeFn.SUM, 0, exclusive, reverse);
        double[] sums = DoubleStream.of(java.util.Arrays.stream(expected.split(" ", -1))
                        .mapToDouble(Double::parseDouble)
                        .toArray())
                .toArray();
        assertThat(first(OneNode.of(op, f32(1, 2, 3, 4, 5))).toDoubles()).containsExactly(sums);
    }

    /** CS-01: an axis of one, one longer than a tile, an empty one. */
    @Test
    void runningSumsAlongAxes() {
        NdArray one = NdArray.of(TensorType.of(DType.F32, 1, 2), 1, 2.0);
        assertThat(first(OneNode.of(new Cumulative(CumulativeFn.SUM, 0, true, true), one))
                        .toDoubles())
                .containsExactly(0, 0);
        NdArray ones = NdArray.zeros(DType.I64, 2, 513, 3);
        for (int i = 0; i < ones.size(); i++) {
            ones.set(i, 1L);
        }
        NdArray up = first(OneNode.of(new Cumulative(CumulativeFn.SUM, 1, false, false), ones)
                .threads(3));
        NdArray down = first(OneNode.of(new Cumulative(CumulativeFn.SUM, 1, true, true), ones)
                .threads(3));
        for (int i = 0; i < ones.size(); i++) {
            long along = i / 3 % 513;
            assertThat(up.getLong(i)).isEqualTo(along + 1);
            assertThat(down.getLong(i)).isEqualTo(512 - along);
        }
        NdArray empty = NdArray.zeros(DType.F32, 2, 0);
        assertThat(first(OneNode.of(new Cumulative(CumulativeFn.SUM, 1, false, false), empty))
                        .size())
                .isZero();
    }

    /** TK-01: every k is a prefix of the same order. */
    @Test
    void topKIsAPrefix() {
        double[] x = {1, 2, 5, 4, 5};
        long[] order = {2, 4, 3, 1, 0};
        for (int k = 0; k <= x.length; k++) {
            List<NdArray> results =
                    OneNode.of(new TopK(k, 0, true, true), f32(x)).run();
            assertThat(results.get(1).toLongs()).containsExactly(java.util.Arrays.copyOf(order, k));
            for (int i = 0; i < k; i++) {
                assertThat(results.get(0).get(i)).isEqualTo(x[(int) order[i]]);
            }
        }
        assertThat(OneNode.of(new TopK(2, 0, false, true), f32(3, 1, 1, 2))
                        .run()
                        .get(1)
                        .toLongs())
                .containsExactly(1, 2);
        assertThatThrownBy(() -> OneNode.of(new TopK(6, 0, true, true), f32(x)).run())
                .isInstanceOf(ShapeException.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 3, 17, 300})
    void topKOfLongLanes(long k) {
        Seeded random = new Seeded(k);
        NdArray x = random.integers(DType.I32, -20, 20, 2, 300, 3);
        RandomOps.check(new TopK(k, 1, true, true), 0, List.of(x));
        RandomOps.check(new TopK(k, 1, false, true), 0, List.of(x));
    }

    /** CT-01: parts without elements. */
    @Test
    void concatOfNothing() {
        NdArray full = NdArray.of(TensorType.of(DType.F32, 2, 3), 1, 2, 3, 4, 5, 6.0);
        assertThat(first(OneNode.of(new Concat(0), full, NdArray.zeros(DType.F32, 0, 3)))
                        .toDoubles())
                .containsExactly(1, 2, 3, 4, 5, 6);
        assertThat(first(OneNode.of(new Concat(1), NdArray.zeros(DType.F32, 2, 0), full))
                        .toDoubles())
                .containsExactly(1, 2, 3, 4, 5, 6);
        NdArray none = first(OneNode.of(new Concat(0), NdArray.zeros(DType.F32, 0, 3), NdArray.zeros(DType.F32, 0, 3)));
        assertThat(none.shape().sizes()).containsExactly(0, 3);
        assertThatThrownBy(() -> OneNode.of(new Concat(0), NdArray.zeros(DType.F32, 0), full)
                        .run())
                .isInstanceOf(ShapeException.class);
        assertThatThrownBy(() -> OneNode.of(new Concat(999), full).run()).isInstanceOf(ShapeException.class);
        NdArray empty = NdArray.zeros(DType.F32, 0, 5);
        assertThat(first(OneNode.of(new Transpose(List.of(1, 0)), empty))
                        .shape()
                        .sizes())
                .containsExactly(5, 0);
        assertThat(first(OneNode.of(new Expand(List.of(3L, 0L, 5L)), empty))
                        .shape()
                        .sizes())
                .containsExactly(3, 0, 5);
    }
}
