package dev.tenon.core.build;

import static dev.tenon.core.build.WordRun.all;
import static dev.tenon.core.build.WordRun.check;
import static dev.tenon.core.build.WordRun.filled;
import static dev.tenon.core.build.WordRun.of;
import static dev.tenon.core.build.WordRun.run;
import static dev.tenon.core.build.WordRun.sizes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.PadMode;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** Words that move elements, against index arithmetic. */
class ShapeWordsTest {
    private final NdArray counting = filled(i -> i, 2, 3, 4);

    private void moved(BiFunction<GraphBuilder, Value, Value> word, long[] sizes, double... expected) {
        check(run((g, in) -> word.apply(g, in.getFirst()), counting), sizes, expected);
    }

    private void same(BiFunction<GraphBuilder, Value, Value> word, long... sizes) {
        check(run((g, in) -> word.apply(g, in.getFirst()), counting), sizes, i -> i);
    }

    @Test
    void reshapingKeepsTheOrder() {
        same((g, x) -> g.reshape(x, 4, -1), 4, 6);
        same((g, x) -> g.flatten(x, 1), 2, 12);
        same((g, x) -> g.flatten(x, -1), 6, 4);
        same((g, x) -> g.flatten(x, 3), 24, 1);
        same((g, x) -> g.unsqueeze(x, 0, -1), 1, 2, 3, 4, 1);
        same((g, x) -> g.squeeze(g.unsqueeze(x, 1, -2), -2), 2, 1, 3, 4);
        same((g, x) -> g.squeeze(g.unsqueeze(x, 1, -2)), 2, 3, 4);
    }

    @Test
    void transposingMovesAxes() {
        check(
                run((g, in) -> g.transpose(in.getFirst(), -1, 0, 1), counting),
                sizes(4, 2, 3),
                i -> i % 6 / 3 * 12 + i % 3 * 4 + i / 6);
        check(
                run((g, in) -> g.transpose(in.getFirst()), counting),
                sizes(4, 3, 2),
                i -> i % 2 * 12 + i % 6 / 2 * 4 + i / 6);
        check(
                run((g, in) -> g.swapAxes(in.getFirst(), -1, -2), counting),
                sizes(2, 4, 3),
                i -> i / 12 * 12 + i % 3 * 4 + i % 12 / 3);
    }

    @Test
    void repeating() {
        NdArray x = of(sizes(2, 1), 7, 8);
        check(run((g, in) -> g.expand(in.getFirst(), 3, 2, 2), x), sizes(3, 2, 2), i -> 7 + i % 4 / 2);
        check(run((g, in) -> g.tile(in.getFirst(), 2, 3), x), sizes(4, 3), i -> 7 + i / 3 % 2);
    }

    @Test
    void padding() {
        NdArray x = of(sizes(1, 3), 1, 2, 3);
        long[] before = {0, 2};
        long[] after = {1, 1};
        check(run((g, in) -> g.pad(in.getFirst(), before, after), x), sizes(2, 6), 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0);
        check(
                run((g, in) -> g.pad(in.getFirst(), before, after, 9), x),
                sizes(2, 6),
                9,
                9,
                1,
                2,
                3,
                9,
                9,
                9,
                9,
                9,
                9,
                9);
        long[] none = {0, 0};
        check(run((g, in) -> g.pad(in.getFirst(), before, none, PadMode.REFLECT), x), sizes(1, 5), 3, 2, 1, 2, 3);
        check(run((g, in) -> g.pad(in.getFirst(), before, none, PadMode.EDGE), x), sizes(1, 5), 1, 1, 1, 2, 3);
    }

    @Test
    void slicing() {
        check(run((g, in) -> g.slice(in.getFirst(), -1, 1, 3), counting), sizes(2, 3, 2), i -> i / 2 * 4 + 1 + i % 2);
        check(run((g, in) -> g.slice(in.getFirst(), -2, -1), counting), sizes(2, 1, 4), i -> i / 4 * 12 + 8 + i % 4);
        moved((g, x) -> g.slice(g.reshape(x, 24), 0, -3, -1), sizes(2), 21, 22);
    }

    @Test
    void sliceOfTheLastAxisTakesColumns() {
        NdArray x = filled(i -> i, 2, 5);
        check(run((g, in) -> g.slice(in.getFirst(), -1, 0, 3), x), sizes(2, 3), 0, 1, 2, 5, 6, 7);
    }

    @Test
    void sliceOutsideOfTheAxisIsRefused() {
        assertThatThrownBy(() -> run((g, in) -> g.slice(in.getFirst(), 1, 2, 4), counting))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("slice: [2, 4) of axis 1 of [2,3,4]; expected -3 <= from <= to <= 3");
    }

    @Test
    void joiningAndCutting() {
        NdArray a = of(sizes(2, 1), 1, 2);
        NdArray b = of(sizes(2, 2), 3, 4, 5, 6);
        check(run((g, in) -> g.concat(in, -1), a, b), sizes(2, 3), 1, 3, 4, 2, 5, 6);
        check(
                run((g, in) -> g.stack(List.of(in.getFirst(), in.getFirst()), -1), b),
                sizes(2, 2, 2),
                3,
                3,
                4,
                4,
                5,
                5,
                6,
                6);
        check(run((g, in) -> g.stack(in, 0), b, b), sizes(2, 2, 2), 3, 4, 5, 6, 3, 4, 5, 6);
        List<NdArray> pieces = all((g, in) -> g.split(in.getFirst(), -1, 1, 3), counting);
        check(pieces.get(0), sizes(2, 3, 1), i -> i * 4);
        check(pieces.get(1), sizes(2, 3, 3), i -> i / 3 * 4 + 1 + i % 3);
        List<NdArray> halves = all((g, in) -> g.chunk(in.getFirst(), -1, 2), counting);
        check(halves.get(1), sizes(2, 3, 2), i -> i / 2 * 4 + 2 + i % 2);
        assertThatThrownBy(() -> all((g, in) -> g.chunk(in.getFirst(), 1, 2), counting))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("chunk: axis 1 of [2,3,4] in 2 parts");
    }

    @Test
    void triangles() {
        NdArray x = of(sizes(2, 3), 1, 2, 3, 4, 5, 6);
        check(run((g, in) -> g.triu(in.getFirst(), 0), x), sizes(2, 3), 1, 2, 3, 0, 5, 6);
        check(run((g, in) -> g.tril(in.getFirst(), -1), x), sizes(2, 3), 0, 0, 0, 4, 0, 0);
    }

    @Test
    void namedDimsStayWhereOneIsOpen() {
        Graph graph = GraphBuilder.build("named", g -> {
            Value x = g.input("x", DType.F64, Dim.named("batch"), Dim.of(1), Dim.of(4));
            g.output("flat", g.flatten(x, 1));
            g.output("squeezed", g.squeeze(x, 1));
            g.output("unsqueezed", g.unsqueeze(x, -1));
            g.output("half", g.slice(x, -1, 2));
        });
        Dim batch = Dim.named("batch");
        assertThat(graph.outputs().get("flat").shape()).isEqualTo(Shape.of(batch, Dim.of(4)));
        assertThat(graph.outputs().get("squeezed").shape()).isEqualTo(Shape.of(batch, Dim.of(4)));
        assertThat(graph.outputs().get("unsqueezed").shape())
                .isEqualTo(Shape.of(batch, Dim.of(1), Dim.of(4), Dim.of(1)));
        Map<String, NdArray> results = Interpreter.run(graph, Map.of("x", filled(i -> i, 2, 1, 4)));
        check(results.get("half"), sizes(2, 1, 2), 2, 3, 6, 7);
    }

    @Test
    void twoNamedDimsAreSqueezedAndUnsqueezedAtRunTime() {
        Graph graph = GraphBuilder.build("two", g -> {
            Value x = g.input("x", DType.F64, Dim.named("a"), Dim.of(1), Dim.named("b"));
            g.output("squeezed", g.squeeze(x, -2));
            g.output("unsqueezed", g.unsqueeze(x, 0));
        });
        Map<String, NdArray> results = Interpreter.run(graph, Map.of("x", filled(i -> i, 2, 1, 3)));
        check(results.get("squeezed"), sizes(2, 3), i -> i);
        check(results.get("unsqueezed"), sizes(1, 2, 1, 3), i -> i);
    }
}
