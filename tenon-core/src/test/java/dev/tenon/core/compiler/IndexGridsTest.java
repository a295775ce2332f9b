package dev.tenon.core.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.filling.RangeOf;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Indices that count along axes, before sizes are known: what they show, and what they do not. */
final class IndexGridsTest {
    private final Compiler compiler = new Compiler(CompilerOptions.defaults(), _ -> false);

    /** Tuples of rows and columns, from a first row; the mask may be read turned. */
    @ParameterizedTest
    @CsvSource({"0, false, true", "1, false, false", "0, true, false"})
    void tuplesOfAllIndicesShowTheMask(long first, boolean turned, boolean shown) {
        Graph graph = GraphBuilder.build("tuples", g -> {
            Value x = mask(g);
            Value rows = unsqueezed(g, range(g, first, size(g, x, 0)), 1, 2, 3);
            Value columns = unsqueezed(g, range(g, 0, size(g, x, turned ? 0 : 1)), 0, 1, 2);
            Value all = sizes(g, g.add(new Binary(BinaryFn.MAX), rows, columns));
            Value i = unsqueezed(g, g.add(new ExpandTo(), rows, all), -1);
            Value j = unsqueezed(g, g.add(new ExpandTo(), columns, all), -1);
            g.output("y", g.add(new GatherNd(0), x, g.add(new Concat(4), turned ? j : i, turned ? i : j)));
        });
        assertShown(graph, shown, turned || first > 0);
    }

    /** Numbers of elements, with a stride between rows. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void numbersOfAllElementsShowTheMask(boolean rowByRow) {
        Graph graph = GraphBuilder.build("numbers", g -> {
            Value x = mask(g);
            Value batch = size(g, x, 0);
            Value tokens = size(g, x, 1);
            Value row = g.add(
                    new ReshapeTo(true),
                    x,
                    g.add(
                            new Concat(0),
                            g.mul(g.add(Reshape.to(1), batch), g.add(Reshape.to(1), tokens)),
                            longs(g, 1)));
            Value rows = unsqueezed(g, range(g, 0, batch), 1, 2, 3);
            Value columns = unsqueezed(g, range(g, 0, tokens), 0, 1, 2);
            Value numbers = rowByRow ? g.add(columns, g.mul(rows, tokens)) : g.add(g.mul(columns, batch), rows);
            Value flat = g.add(Reshape.to(-1), g.add(new Gather(0), row, numbers));
            g.output("y", g.add(new ReshapeTo(false), flat, sizes(g, numbers)));
        });
        assertShown(graph, rowByRow, false);
    }

    @ParameterizedTest
    @CsvSource({"0, true", "-1, true", "1, false"})
    void conditionsOnIndicesThatAlwaysHoldAreLeftOut(long least, boolean always) {
        Graph graph = GraphBuilder.build("always", g -> {
            Value x = mask(g);
            Value columns = unsqueezed(g, range(g, 0, size(g, x, 1)), 0, 1);
            Value holds = g.add(new Compare(CompareFn.GE), columns, g.add(Reshape.to(), longs(g, least)));
            Value wide = g.add(new Binary(BinaryFn.AND), unsqueezed(g, x, 2), holds);
            g.output("y", wide);
        });
        Prepared prepared = compiler.prepare(graph, Map.of());
        assertThat(ops(prepared.reduced()).contains(Binary.class)).isEqualTo(!always);
        assertSame(graph, prepared, false);
    }

    /** The sizes of torch's expand, where -1 keeps a dim. */
    @Test
    void conditionsOnSizesChooseSizes() {
        Graph graph = GraphBuilder.build("chosen", g -> {
            Value x = mask(g);
            Value wanted = g.add(new Concat(0), g.add(Reshape.to(1), size(g, x, 0)), longs(g, -1));
            Value keeps = g.add(new Compare(CompareFn.EQ), wanted, longs(g, -1, -1));
            g.output("y", g.add(new ExpandTo(), x, g.add(new Where(), keeps, longs(g, 1, 1), wanted)));
        });
        Prepared prepared = compiler.prepare(graph, Map.of());
        assertThat(prepared.reduced().outputs().get("y").shape())
                .isEqualTo(Shape.of(Dim.named("batch"), Dim.named("tokens")));
        assertSame(graph, prepared, false);
    }

    private void assertShown(Graph graph, boolean shown, boolean squareOnly) {
        Prepared prepared = compiler.prepare(graph, Map.of());
        List<?> ops = ops(prepared.reduced());
        assertThat(ops.contains(Gather.class) || ops.contains(GatherNd.class)).isEqualTo(!shown);
        assertSame(graph, prepared, squareOnly);
    }

    private static List<Class<? extends Op>> ops(Graph graph) {
        return graph.nodes().stream()
                .<Class<? extends Op>>map(node -> node.op().getClass())
                .toList();
    }

    /** @param squareOnly whether other sizes have indices outside the mask */
    private void assertSame(Graph graph, Prepared prepared, boolean squareOnly) {
        for (long[] size : new long[][] {{1, 1}, {2, 2}, {1, 3}, {3, 1}, {3, 4}, {4, 3}}) {
            if (squareOnly && size[0] != size[1]) {
                continue;
            }
            TensorType type = TensorType.of(DType.BOOL, size);
            NdArray mask = NdArray.zeros(type);
            for (int i = 0; i < mask.size(); i++) {
                mask.set(i, (i * 7 + 3) % 5 < 2 ? 1 : 0);
            }
            Map<String, NdArray> inputs = Map.of("mask", mask);
            Graph plan = compiler.plan(prepared, Map.of("mask", type), Map.of())
                    .plan()
                    .graph();
            Graph whole = compiler.plan(prepared.graph(), Map.of("mask", type), Map.of())
                    .plan()
                    .graph();
            NdArray expected = result(whole, inputs);
            NdArray actual = result(plan, inputs);
            assertThat(actual.type()).isEqualTo(expected.type());
            assertThat(actual.toLongs()).as(size[0] + " x " + size[1]).isEqualTo(expected.toLongs());
        }
    }

    private static NdArray result(Graph graph, Map<String, NdArray> inputs) {
        return Interpreter.run(graph, inputs).get("y");
    }

    private static Value mask(GraphBuilder g) {
        return g.input("mask", DType.BOOL, Dim.named("batch"), Dim.named("tokens"));
    }

    private static Value range(GraphBuilder g, long first, Value limit) {
        Value from = g.add(Reshape.to(), longs(g, first));
        return g.add(new RangeOf(), from, limit, g.add(Reshape.to(), longs(g, 1)));
    }

    private static Value unsqueezed(GraphBuilder g, Value x, long... axes) {
        return g.add(new UnsqueezeAxes(), x, longs(g, axes));
    }

    private static Value sizes(GraphBuilder g, Value x) {
        return g.add(new ShapeOf(0, Long.MAX_VALUE), x);
    }

    private static Value size(GraphBuilder g, Value x, int axis) {
        return g.add(Reshape.to(), g.add(new ShapeOf(axis, axis + 1L), x));
    }

    private static Value longs(GraphBuilder g, long... numbers) {
        return g.constant(NdArray.ofLongs(numbers).toConstant());
    }
}
