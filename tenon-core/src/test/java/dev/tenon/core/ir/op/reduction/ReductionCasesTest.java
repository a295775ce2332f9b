package dev.tenon.core.ir.op.reduction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.testkit.Seeded;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reductions, running sums and top-k: empty sets, axes, ties. */
class ReductionCasesTest {
    private static final double NAN = Double.NaN;

    private static NdArray reduce(ReduceFn fn, NdArray x, boolean keepDims, Integer... axes) {
        return Interpreter.run(new Reduce(fn, List.of(axes), keepDims), List.of(x))
                .getFirst();
    }

    private static NdArray row(double... values) {
        return NdArray.of(TensorType.of(DType.F32, values.length), values);
    }

    @Test
    void emptyAxesGiveTheIdentity() {
        NdArray none = NdArray.zeros(DType.F32, 2, 2, 0, 3);
        NdArray sum = reduce(ReduceFn.SUM, none, true, 2);
        assertThat(sum.shape()).isEqualTo(Shape.of(2, 2, 1, 3));
        assertThat(sum.toDoubles()).containsOnly(0.0);
        assertThat(reduce(ReduceFn.PROD, none, true, 2).toDoubles()).containsOnly(1.0);
        assertThat(reduce(ReduceFn.MEAN, none, true, 2).toDoubles()).containsOnly(NAN);
        assertThat(reduce(ReduceFn.LOG_SUM_EXP, none, true, 2).toDoubles()).containsOnly(Double.NEGATIVE_INFINITY);
        assertThatThrownBy(() -> reduce(ReduceFn.MAX, none, true, 2))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("no identity");
    }

    @Test
    void emptyResultsNeedNoIdentity() {
        NdArray none = NdArray.zeros(DType.F32, 0, 4);
        assertThat(reduce(ReduceFn.MAX, none, false, 1).shape()).isEqualTo(Shape.of(0));
        assertThat(reduce(ReduceFn.SUM, none, false, 0).toDoubles()).containsExactly(0, 0, 0, 0);
    }

    @Test
    void axesOfSizeOneAndOfEitherEnd() {
        NdArray pair = NdArray.of(TensorType.of(DType.F32, 1, 2), 7.0, 9);
        assertThat(reduce(ReduceFn.MAX, pair, false, 0).toDoubles()).containsExactly(7, 9);
        Graph graph = GraphBuilder.build("either end", g -> {
            Value x = g.input("x", DType.F32, Dim.of(2), Dim.of(3), Dim.of(4));
            g.output("y", g.reduce(ReduceFn.SUM, x, false, -1, 0));
        });
        assertThat(graph.outputs().sequencedValues().getFirst().shape()).isEqualTo(Shape.of(3));
    }

    @Test
    void axesNamedTwiceOrOutOfRangeAreErrors() {
        NdArray x = NdArray.zeros(DType.F32, 2, 3, 4);
        assertThatThrownBy(() -> new Reduce(ReduceFn.SUM, List.of(1, 1), false)).isInstanceOf(ShapeException.class);
        assertThatThrownBy(() -> reduce(ReduceFn.SUM, x, false, 3))
                .isInstanceOf(ShapeException.class)
                .hasMessage("reduce sum: axis 3 is out of range for shape [2,3,4]; expected 0 to 2");
        assertThatThrownBy(() ->
                        Interpreter.run(new ReduceBy(ReduceFn.SUM, false, false), List.of(x, NdArray.ofLongs(1, -2))))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("axes [1, -2] name axis 1 twice");
    }

    @Test
    void runningSums() {
        NdArray x = row(1, 2, 3, 4, 5);
        assertThat(cumulative(x, 0, false, false)).containsExactly(1, 3, 6, 10, 15);
        assertThat(cumulative(x, 0, true, false)).containsExactly(0, 1, 3, 6, 10);
        assertThat(cumulative(x, 0, false, true)).containsExactly(15, 14, 12, 9, 5);
        assertThat(cumulative(x, 0, true, true)).containsExactly(14, 12, 9, 5, 0);
        assertThat(cumulative(NdArray.of(TensorType.of(DType.F32, 1, 2), 1.0, 2), 0, true, true))
                .containsExactly(0, 0);
        assertThat(cumulative(NdArray.zeros(DType.F32, 2, 0), 1, false, false)).isEmpty();
        NdArray ones = new Seeded(1).integers(DType.I64, 1, 1, 2, 513, 3);
        double[] inclusive = cumulative(ones, 1, false, false);
        double[] rest = cumulative(ones, 1, true, true);
        for (int i = 0; i < 513; i++) {
            assertThat(inclusive[i * 3 + 1]).isEqualTo(i + 1);
            assertThat(rest[513 * 3 + i * 3]).isEqualTo(512 - i);
        }
    }

    private static double[] cumulative(NdArray x, int axis, boolean exclusive, boolean reverse) {
        return new Cumulative(CumulativeFn.SUM, axis, exclusive, reverse)
                .evaluate(List.of(x))
                .getFirst()
                .toDoubles();
    }

    @Test
    void everyTopKIsAPrefixOfTheWhole() {
        NdArray x = row(1, 2, 5, 4, 5);
        long[] order = {2, 4, 3, 1, 0};
        for (int k = 0; k <= 5; k++) {
            List<NdArray> top = new TopK(k, 0, true, true).evaluate(List.of(x));
            assertThat(top.get(1).toLongs()).containsExactly(Arrays.copyOf(order, k));
            for (int i = 0; i < k; i++) {
                assertThat(top.get(0).get(i)).isEqualTo(x.get((int) order[i]));
            }
        }
        assertThat(new TopK(2, 0, false, true)
                        .evaluate(List.of(row(3, 1, 1, 2)))
                        .get(1)
                        .toLongs())
                .containsExactly(1, 2);
        assertThatThrownBy(() -> new TopK(6, 0, true, true).evaluate(List.of(x)))
                .isInstanceOf(ShapeException.class)
                .hasMessage("top_k: k is 6 for axis 0 of [5]; expected at most 5");
    }

    @Test
    void nanWinsEveryExtreme() {
        NdArray x = row(1, NAN, 3, NAN);
        assertThat(reduce(ReduceFn.MAX, x, false, 0).get(0)).isNaN();
        assertThat(reduce(ReduceFn.MIN, x, false, 0).get(0)).isNaN();
        assertThat(new ArgReduce(false, 0, false, false)
                        .evaluate(List.of(x))
                        .getFirst()
                        .toLongs())
                .containsExactly(1);
        assertThat(new ArgReduce(true, 0, false, true)
                        .evaluate(List.of(x))
                        .getFirst()
                        .toLongs())
                .containsExactly(3);
    }
}
