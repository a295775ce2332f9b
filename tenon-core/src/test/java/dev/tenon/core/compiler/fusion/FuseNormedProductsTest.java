package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class FuseNormedProductsTest {
    private static Value x(GraphBuilder g) {
        return g.input("x", TensorType.of(DType.F32, 2, 3, 5));
    }

    private static Value residual(GraphBuilder g) {
        return g.input("r", TensorType.of(DType.F32, 2, 3, 6));
    }

    private static Value row(GraphBuilder g, long seed) {
        return g.constant(new Seeded(seed).array(DType.F32, 6).toConstant());
    }

    private static Value product(GraphBuilder g) {
        Value weight = g.constant(new Seeded(3).array(DType.F32, 5, 6).toConstant());
        return g.add(g.matmul(x(g), weight), row(g, 4));
    }

    private static Value layerNorm(GraphBuilder g, Value x) {
        return g.add(new LayerNorm(2, 1e-5, true, true), x, row(g, 1), row(g, 2));
    }

    private static Value rmsNorm(GraphBuilder g, Value x) {
        return g.add(new RmsNorm(2, 1e-5, true), x, row(g, 1));
    }

    /** What is planned where normed products are run whole: the same results; its operations in order. */
    private static List<String> operations(Consumer<GraphBuilder> build, String... skip) {
        return Planned.operations(
                GraphBuilder.build("products", build), node -> node.op() instanceof NormedMatMul, skip);
    }

    @Test
    void productsTakeTheirNorm() {
        assertThat(operations(g -> g.output("y", layerNorm(g, g.add(product(g), residual(g))))))
                .containsExactly("normed_mat_mul");
        assertThat(operations(g -> g.output("y", rmsNorm(g, product(g))))).containsExactly("normed_mat_mul");
    }

    @Test
    void productThatOthersReadStaysApart() {
        assertThat(operations(g -> {
                    Value sum = g.add(product(g), residual(g));
                    g.output("y", layerNorm(g, sum));
                    g.output("z", g.unary(UnaryFn.TANH, sum));
                }))
                .containsExactlyInAnyOrder("mat_mul", "layer_norm", "unary");
        assertThat(operations(g -> {
                    Value product = product(g);
                    g.output("y", layerNorm(g, product));
                    g.output("product", product);
                }))
                .containsExactly("mat_mul", "layer_norm");
    }

    @Test
    void otherNormsStayApart() {
        assertThat(operations(g -> g.output(
                        "y",
                        g.add(
                                new LayerNorm(1, 1e-5, true, true),
                                product(g),
                                g.constant(new Seeded(5).array(DType.F32, 3, 6).toConstant()),
                                row(g, 2)))))
                .containsExactly("mat_mul", "layer_norm");
        assertThat(operations(g -> g.output("y", g.add(new LayerNorm(2, 1e-5, true, false), product(g), row(g, 1)))))
                .containsExactly("mat_mul", "layer_norm");
    }

    @Test
    void skippedPassLeavesThemApart() {
        assertThat(operations(g -> g.output("y", layerNorm(g, product(g))), "fuse-normed-products"))
                .containsExactly("mat_mul", "layer_norm");
    }
}
