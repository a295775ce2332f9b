package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.PrologueMatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

final class FuseProloguesTest {
    private static final Predicate<Node> ALL =
            node -> node.op() instanceof PrologueMatMul || node.op() instanceof GatedUnit;

    private static Value x(GraphBuilder g) {
        return g.input("x", TensorType.of(DType.F32, 1, 2, 8));
    }

    private static Value constant(GraphBuilder g, long seed, long... sizes) {
        return g.constant(new Seeded(seed).array(DType.F32, sizes).toConstant());
    }

    private static Value rmsNorm(GraphBuilder g, Value x) {
        return g.add(new RmsNorm(2, 1e-5, true), x, constant(g, 1, 8));
    }

    private static Value layerNorm(GraphBuilder g, Value x) {
        return g.add(new LayerNorm(2, 1e-5, true, true), x, constant(g, 1, 8), constant(g, 2, 8));
    }

    private static Value product(GraphBuilder g, Value x, long seed, long to) {
        return g.matmul(x, constant(g, seed, x.shape().size(2), to));
    }

    private static List<String> operations(Consumer<GraphBuilder> build, String... skip) {
        return operations(ALL, build, skip);
    }

    /** What is planned where a backend claims that: the same results; its operations in order. */
    private static List<String> operations(Predicate<Node> claims, Consumer<GraphBuilder> build, String... skip) {
        return Planned.operations(GraphBuilder.build("products", build), claims, skip);
    }

    @Test
    void productsTakeTheNormThatTheyShare() {
        assertThat(operations(g -> {
                    Value normed = rmsNorm(g, x(g));
                    g.output("q", product(g, normed, 3, 6));
                    g.output("k", product(g, normed, 4, 3));
                }))
                .containsExactly("prologue_mat_mul", "prologue_mat_mul");
        assertThat(operations(g -> g.output("y", product(g, layerNorm(g, x(g)), 3, 6))))
                .containsExactly("prologue_mat_mul");
    }

    @Test
    void layersOfADecoderAreProductsAlone() {
        assertThat(operations(g -> {
                    Value x = x(g);
                    Value sum = g.add(product(g, rmsNorm(g, x), 3, 8), x);
                    Value normed = rmsNorm(g, sum);
                    Value gate = g.add(Unary.silu(), product(g, normed, 4, 12));
                    Value unit = g.mul(gate, product(g, normed, 5, 12));
                    g.output("y", g.add(product(g, unit, 6, 8), sum));
                }))
                .containsExactly("prologue_mat_mul", "prologue_mat_mul", "prologue_mat_mul");
    }

    @Test
    void whatOthersReadIsMadeOnce() {
        assertThat(operations(g -> {
                    Value normed = rmsNorm(g, x(g));
                    g.output("y", product(g, normed, 3, 6));
                    g.output("z", g.unary(UnaryFn.TANH, normed));
                }))
                .containsExactlyInAnyOrder("rms_norm", "mat_mul", "unary");
        assertThat(operations(g -> {
                    Value normed = rmsNorm(g, x(g));
                    g.output("y", product(g, normed, 3, 6));
                    g.output("normed", normed);
                }))
                .containsExactly("rms_norm", "mat_mul");
        assertThat(operations(g -> {
                    Value normed = rmsNorm(g, x(g));
                    g.output("y", g.add(product(g, normed, 3, 8), normed));
                }))
                .containsExactly("rms_norm", "mat_mul");
        assertThat(operations(g -> {
                    Value normed = rmsNorm(g, x(g));
                    g.output("y", g.matmul(normed, g.transpose(normed, 0, 2, 1)));
                }))
                .contains("rms_norm")
                .doesNotContain("prologue_mat_mul");
    }

    @Test
    void allProductsAreClaimedOrNone() {
        Predicate<Node> wide = node ->
                node.op() instanceof PrologueMatMul && node.output().shape().size(2) > 4;
        assertThat(operations(wide, g -> {
                    Value normed = rmsNorm(g, x(g));
                    g.output("q", product(g, normed, 3, 6));
                    g.output("k", product(g, normed, 4, 3));
                }))
                .containsExactly("rms_norm", "mat_mul", "mat_mul");
    }

    @Test
    void functionsBehindOtherOperationsAreTaken() {
        assertThat(operations(g -> g.output("y", product(g, g.unary(UnaryFn.GELU, x(g)), 3, 6))))
                .containsExactly("prologue_mat_mul");
    }

    @Test
    void layerNormsOfEncodersStayForTheirLaunch() {
        Consumer<GraphBuilder> encoder = g -> {
            Value x = x(g);
            Value packed = g.reshape(product(g, layerNorm(g, x), 3, 24), 1, 2, 3, 2, 4);
            Value context = g.add(new PlainAttention(false, true, 0.5, false), packed);
            g.output("y", g.reshape(context, 1, 2, 8));
        };
        Predicate<Node> claims = node -> ALL.test(node) || node.op() instanceof PlainAttention;
        assertThat(operations(claims, encoder)).contains("layer_norm").doesNotContain("prologue_mat_mul");
    }

    @Test
    void skippedPassLeavesThemApart() {
        assertThat(operations(g -> g.output("y", product(g, rmsNorm(g, x(g)), 3, 6)), "fuse-prologues"))
                .containsExactly("rms_norm", "mat_mul");
    }
}
