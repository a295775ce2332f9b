package dev.tenon.core.ir.op.indexing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.testkit.Seeded;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Gathers, scatters and concats: negative and wild indices, duplicates, empty inputs. */
class IndexingCasesTest {
    private static NdArray row(double... values) {
        return NdArray.of(TensorType.of(DType.F32, values.length), values);
    }

    private static NdArray gather(long... indices) {
        return new Gather(0)
                .evaluate(List.of(row(10, 20, 30), NdArray.ofLongs(indices)))
                .getFirst();
    }

    @Test
    void gatherCountsFromTheBack() {
        assertThat(gather(-1, -3, 1).toDoubles()).containsExactly(30, 10, 20);
        assertThat(gather().shape()).isEqualTo(Shape.of(0));
    }

    @Test
    void gatherRefusesWildIndices() {
        assertThatThrownBy(() -> gather(3))
                .isInstanceOf(DataException.class)
                .hasMessage("gather: index 3 is out of range for axis 0 of size 3; expected -3 to 2");
        assertThatThrownBy(() -> gather(-4)).isInstanceOf(DataException.class);
        assertThatThrownBy(() -> gather(4294967295L)).isInstanceOf(DataException.class);
    }

    @Test
    void gatherOfTheLastAxis() {
        Graph graph = GraphBuilder.build("columns", g -> {
            Value data = g.input("data", DType.F32, Dim.of(2), Dim.of(3));
            Value indices = g.input("indices", DType.I64, Dim.of(2));
            g.output("y", g.gather(data, indices, -1));
        });
        NdArray data = NdArray.of(TensorType.of(DType.F32, 2, 3), 1.0, 2, 3, 4, 5, 6);
        assertThat(Interpreter.run(graph, Map.of("data", data, "indices", NdArray.ofLongs(2, 0)))
                        .sequencedValues()
                        .getFirst()
                        .toDoubles())
                .containsExactly(3, 1, 6, 4);
    }

    private static NdArray scatterAdd(NdArray data, NdArray indices, NdArray updates) {
        return new ScatterElements(0, ScatterFn.ADD)
                .evaluate(List.of(data, indices, updates))
                .getFirst();
    }

    @Test
    void scatterAddsInIndexOrder() {
        NdArray sum = scatterAdd(NdArray.zeros(DType.F32, 1), NdArray.zeros(DType.I64, 4), row(1e8, 1, -1e8, 1));
        assertThat(sum.get(0)).isEqualTo(1);
    }

    @Test
    void scatterAddsInTheAccumulator() {
        NdArray ones = new Seeded(1).integers(DType.BF16, 1, 1, 1000);
        assertThat(scatterAdd(NdArray.zeros(DType.BF16, 1), NdArray.zeros(DType.I64, 1000), ones)
                        .get(0))
                .isEqualTo(1000);
        NdArray many = new Seeded(1).integers(DType.F32, 1, 1, 1_000_000);
        assertThat(scatterAdd(NdArray.zeros(DType.F32, 1), NdArray.zeros(DType.I64, 1_000_000), many)
                        .get(0))
                .isEqualTo(1_000_000);
        NdArray large = NdArray.ofLongs(Long.MAX_VALUE - 1);
        assertThat(scatterAdd(large, NdArray.ofLongs(0), NdArray.ofLongs(1)).getLong(0))
                .isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void scatterCountsFromTheBackAndRefusesWildIndices() {
        assertThat(scatterAdd(row(1, 2), NdArray.ofLongs(-1), row(5)).toDoubles())
                .containsExactly(1, 7);
        assertThatThrownBy(() -> scatterAdd(row(1, 2), NdArray.ofLongs(2), row(5)))
                .isInstanceOf(DataException.class);
    }

    @Test
    void concatOfEmptyInputs() {
        NdArray matrix = NdArray.of(TensorType.of(DType.F32, 2, 3), 1.0, 2, 3, 4, 5, 6);
        NdArray noRows = NdArray.zeros(DType.F32, 0, 3);
        assertThat(new Concat(0).evaluate(List.of(matrix, noRows)).getFirst().toDoubles())
                .containsExactly(1, 2, 3, 4, 5, 6);
        assertThat(new Concat(1)
                        .evaluate(List.of(NdArray.zeros(DType.F32, 2, 0), matrix))
                        .getFirst()
                        .shape())
                .isEqualTo(Shape.of(2, 3));
        assertThat(new Concat(0).evaluate(List.of(noRows, noRows)).getFirst().shape())
                .isEqualTo(Shape.of(0, 3));
    }

    @Test
    void concatRefusesWhatDoesNotFit() {
        TensorType matrix = TensorType.of(DType.F32, 2, 3);
        assertThatThrownBy(() -> new Concat(0).infer(List.of(TensorType.of(DType.F32, 0), matrix)))
                .isInstanceOf(ShapeException.class)
                .hasMessage("concat: input 1 [2,3] has rank 2; expected rank 1");
        assertThatThrownBy(() -> new Concat(999).infer(List.of(matrix, matrix))).isInstanceOf(ShapeException.class);
        assertThatThrownBy(() -> new Concat(0).infer(List.of(matrix, TensorType.of(DType.F32, 2, 4))))
                .isInstanceOf(ShapeException.class);
        assertThatThrownBy(() -> new Concat(0).infer(List.of(matrix, TensorType.of(DType.F16, 2, 3))))
                .isInstanceOf(DTypeException.class);
    }

    @Test
    void emptyShapesGoThroughEverything() {
        Graph graph = GraphBuilder.build("empty", g -> {
            Value x = g.input("x", DType.F32, Dim.of(0), Dim.of(5));
            g.output("relu", g.relu(x));
            g.output("turned", g.transpose(x, 1, 0));
            g.output("wide", g.expand(x, 3, 0, 5));
            g.output("sum", g.reduce(ReduceFn.SUM, x, false, 0, 1));
        });
        Map<String, NdArray> y = Interpreter.run(graph, Map.of("x", NdArray.zeros(DType.F32, 0, 5)));
        assertThat(y.values().stream().map(NdArray::shape))
                .containsExactly(Shape.of(0, 5), Shape.of(5, 0), Shape.of(3, 0, 5), Shape.scalar());
    }
}
