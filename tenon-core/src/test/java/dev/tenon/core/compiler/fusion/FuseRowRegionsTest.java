package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.GraphText;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.testkit.ClaimedGraphs;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

final class FuseRowRegionsTest {
    private static final Predicate<Node> ROW_REGIONS = node -> node.op() instanceof RowRegion;
    private static final long[] ROWS = {2, 3, 6};

    private static Value x(GraphBuilder g) {
        return g.input("x", TensorType.of(DType.F32, ROWS));
    }

    private static Value row(GraphBuilder g, long seed) {
        return g.constant(new Seeded(seed).array(DType.F32, 6).toConstant());
    }

    private static Value layerNorm(GraphBuilder g, Value x) {
        return g.add(new LayerNorm(2, 1e-3, true, true), x, row(g, 1), row(g, 2));
    }

    /** What is planned where row regions are run whole: the same results; its operations in order. */
    private static List<String> operations(Consumer<GraphBuilder> build) {
        return Planned.operations(GraphBuilder.build("rows", build), ROW_REGIONS);
    }

    @Test
    void textBeforeAndAfter() {
        Graph graph = GraphBuilder.build("rows", g -> {
            Value scaled = g.mul(x(g), g.input("s", TensorType.of(DType.F32, 2, 3, 1)));
            Value chosen = g.add(new Softmax(2), scaled);
            g.output("y", g.sub(g.input("z", TensorType.of(DType.F32, ROWS)), chosen));
        });
        Graph apart = Planned.graph(graph, node -> false);
        assertThat(apart.nodes().stream().map(node -> node.op().mnemonic()))
                .containsExactly("binary", "softmax", "binary");
        Graph whole = Planned.graph(graph, ROW_REGIONS);
        assertThat(whole.toString())
                .contains("row_region(operands=2, before=(steps=[(op=binary(fn=mul), arguments=[0, 1])], results=[0]),"
                        + " row=softmax(axis=2), after=(steps=[(op=binary(fn=sub), arguments=[1, 0])], results=[0]))"
                        + " %x, %s, %z");
        assertThat(GraphText.parse(whole.toString()).toString()).isEqualTo(whole.toString());
        Planned.assertSame(graph, whole, Planned.inputs(graph, 3));
    }

    @Test
    void oneSideIsEnough() {
        assertThat(operations(g -> g.output("y", layerNorm(g, g.unary(UnaryFn.TANH, x(g))))))
                .containsExactly("row_region");
        assertThat(operations(g -> g.output("y", g.unary(UnaryFn.TANH, layerNorm(g, x(g))))))
                .containsExactly("row_region");
        assertThat(operations(g -> g.output("y", layerNorm(g, x(g))))).containsExactly("layer_norm");
    }

    @Test
    void regionsOfSeveralStepsOnBothSides() {
        assertThat(operations(g -> {
                    Value before = g.add(g.mul(x(g), row(g, 3)), row(g, 4));
                    Value norm = layerNorm(g, before);
                    g.output("y", g.mul(g.unary(UnaryFn.SIGMOID, norm), row(g, 5)));
                }))
                .containsExactly("row_region");
    }

    @Test
    void reductionsTakeBoth() {
        assertThat(operations(g -> {
                    Value sum = g.add(new Reduce(ReduceFn.SUM_SQUARE, List.of(2), true), g.unary(UnaryFn.TANH, x(g)));
                    g.output("y", g.unary(UnaryFn.SQRT, sum));
                }))
                .containsExactly("row_region");
    }

    @Test
    void valuesThatOthersReadStay() {
        assertThat(operations(g -> {
                    Value before = g.unary(UnaryFn.TANH, x(g));
                    g.output("y", layerNorm(g, before));
                    g.output("before", before);
                }))
                .containsExactly("unary", "layer_norm");
        assertThat(operations(g -> {
                    Value norm = layerNorm(g, x(g));
                    g.output("y", g.unary(UnaryFn.TANH, norm));
                    g.output("norm", norm);
                }))
                .containsExactly("layer_norm", "unary");
    }

    @Test
    void resultsThatAreBroadcastStay() {
        assertThat(operations(g -> {
                    Value sum = g.add(new Reduce(ReduceFn.SUM, List.of(2), true), x(g));
                    g.output("y", g.sub(g.input("z", TensorType.of(DType.F32, ROWS)), sum));
                }))
                .containsExactly("reduce", "binary");
    }

    @Test
    void whatIsBetweenTwoIsDoneOnce() {
        assertThat(operations(g -> {
                    Value first = layerNorm(g, x(g));
                    g.output("y", g.add(new Softmax(2), g.unary(UnaryFn.TANH, first)));
                }))
                .hasSize(2)
                .contains("row_region");
    }

    @Test
    void residualNormsComeFirst() {
        Graph graph = GraphBuilder.build("rows", g -> {
            Value r = g.input("r", TensorType.of(DType.F32, ROWS));
            g.output("y", layerNorm(g, g.add(x(g), r)));
        });
        Graph planned =
                Planned.graph(graph, node -> node.op() instanceof RowRegion || node.op() instanceof ResidualNorm);
        assertThat(planned.nodes().stream().map(node -> node.op().mnemonic())).containsExactly("residual_norm");
    }

    @Test
    void skippedByName() {
        Graph graph = GraphBuilder.build("rows", g -> g.output("y", layerNorm(g, g.unary(UnaryFn.TANH, x(g)))));
        assertThat(Planned.graph(graph, ROW_REGIONS, "fuse-row-regions").nodes().stream()
                        .map(node -> node.op().mnemonic()))
                .containsExactly("unary", "layer_norm");
    }

    @Test
    void randomGraphsKeepTheirResults() {
        int fused = 0;
        for (long seed = 0; seed < 200; seed++) {
            Graph graph = ClaimedGraphs.rows(seed, 24);
            Graph planned = Planned.graph(graph, ROW_REGIONS);
            Planned.assertSame(graph, planned, Planned.inputs(graph, seed));
            fused += (int) planned.nodes().stream().filter(ROW_REGIONS).count();
        }
        assertThat(fused).isGreaterThan(200);
    }
}
