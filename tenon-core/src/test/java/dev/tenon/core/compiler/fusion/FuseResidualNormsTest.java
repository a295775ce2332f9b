package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FuseResidualNormsTest {
    private static final Predicate<Node> RESIDUAL_NORMS = node -> node.op() instanceof ResidualNorm;
    private static final long[] ROWS = {2, 3, 6};

    private static Value x(GraphBuilder g) {
        return g.input("x", TensorType.of(DType.F32, ROWS));
    }

    private static Value r(GraphBuilder g) {
        return g.input("r", TensorType.of(DType.F32, ROWS));
    }

    private static Value row(GraphBuilder g, long seed) {
        return g.constant(new Seeded(seed).array(DType.F32, 6).toConstant());
    }

    private static Value layerNorm(GraphBuilder g, Value x) {
        return g.add(new LayerNorm(2, 1e-5, true, true), x, row(g, 1), row(g, 2));
    }

    private static Value rmsNorm(GraphBuilder g, Value x) {
        return g.add(new RmsNorm(2, 1e-5, true), x, row(g, 1));
    }

    /** What is planned where residual norms are run whole: the same results; its operations in order. */
    private static List<String> operations(Consumer<GraphBuilder> build) {
        return Planned.operations(GraphBuilder.build("sums", build), RESIDUAL_NORMS);
    }

    @Test
    void aSumOfItsOwnIsNeverWritten() {
        assertThat(operations(g -> g.output("y", layerNorm(g, g.add(x(g), r(g))))))
                .containsExactly("residual_norm");
        assertThat(operations(g -> g.output("y", rmsNorm(g, g.add(x(g), r(g))))))
                .containsExactly("residual_norm");
        Graph graph = GraphBuilder.build("one", g -> g.output("y", rmsNorm(g, g.add(x(g), r(g)))));
        assertThat(Planned.graph(graph, RESIDUAL_NORMS).nodes().getFirst().outputs())
                .hasSize(1);
    }

    @Test
    void aSumThatOthersReadIsTheSecondResult() {
        assertThat(operations(g -> {
                    Value sum = g.add(x(g), r(g));
                    g.output("y", rmsNorm(g, sum));
                    g.output("sum", sum);
                }))
                .containsExactly("residual_norm");
        // read between the sum and its norm, and after it; the second norm of a sum stays one
        assertThat(operations(g -> {
                    Value sum = g.add(x(g), r(g));
                    g.output("maximum", g.add(new Reduce(ReduceFn.MAX, List.of(0), false), sum));
                    g.output("y", layerNorm(g, sum));
                    g.output("z", rmsNorm(g, sum));
                    g.output("mean", g.add(new Reduce(ReduceFn.MEAN, List.of(1), false), sum));
                }))
                .containsExactlyInAnyOrder("residual_norm", "reduce", "rms_norm", "reduce");
    }

    @Test
    void aSumWithItself() {
        assertThat(operations(g -> {
                    Value x = x(g);
                    g.output("y", layerNorm(g, g.add(x, x)));
                }))
                .containsExactly("residual_norm");
    }

    @Test
    void aSharedSumStaysWhereTheScaleComesLater() {
        assertThat(operations(g -> {
                    Value sum = g.add(x(g), r(g));
                    Value scale = g.add(new Reduce(ReduceFn.MAX, List.of(0, 1), false), sum);
                    g.output("y", g.add(new RmsNorm(2, 1e-5, true), sum, scale));
                }))
                .containsExactly("binary", "reduce", "rms_norm");
    }

    @Test
    void additionsWithinProductsAndRegionsStayThere() {
        assertThat(operations(g -> {
                    Value w = g.constant(new Seeded(3).array(DType.F32, 6, 6).toConstant());
                    g.output("y", layerNorm(g, g.add(g.add(g.matmul(x(g), w), row(g, 4)), r(g))));
                }))
                .containsExactly("mat_mul", "layer_norm");
        assertThat(operations(g -> g.output("y", layerNorm(g, g.add(g.unary(UnaryFn.TANH, x(g)), r(g))))))
                .containsExactly("region", "layer_norm");
    }

    @Test
    void whatAResidualNormIsNot() {
        assertThat(operations(
                        g -> { // broadcast
                            Value r = g.input("r", TensorType.of(DType.F32, 3, 6));
                            g.output("y", layerNorm(g, g.add(x(g), r)));
                        }))
                .containsExactly("binary", "layer_norm");
        assertThat(operations(g ->
                        g.output("y", g.add(new LayerNorm(2, 1e-5, true, false), g.add(x(g), r(g)), row(g, 1)))))
                .containsExactly("binary", "layer_norm");
        assertThat(operations(g -> g.output("y", layerNorm(g, g.sub(x(g), r(g))))))
                .containsExactly("binary", "layer_norm");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void staysAsItIsWhereTheBackendDoesNotRunIt(boolean shared) {
        Graph graph = GraphBuilder.build("sums", g -> {
            Value sum = g.add(x(g), r(g));
            g.output("y", layerNorm(g, sum));
            if (shared) {
                g.output("sum", sum);
            }
        });
        assertThat(Planned.graph(graph, node -> false).nodes().stream()
                        .map(node -> node.op().mnemonic()))
                .containsExactly("binary", "layer_norm");
    }

    /** As BERT's are exported: LayerNorm in small steps, its scale and bias of rank 1. */
    @Test
    void theNormMayBeSpelledOut() {
        assertThat(operations(g -> {
                    Value x = g.add(x(g), r(g));
                    Value deviation = g.sub(x, g.add(new Reduce(ReduceFn.MEAN, List.of(2), true), x));
                    Value variance = g.add(new Reduce(ReduceFn.MEAN, List.of(2), true), g.mul(deviation, deviation));
                    Value root = g.unary(UnaryFn.SQRT, g.add(variance, g.scalar(DType.F32, 1e-5)));
                    g.output("y", g.add(g.mul(g.div(deviation, root), row(g, 1)), row(g, 2)));
                }))
                .containsExactly("residual_norm");
    }
}
