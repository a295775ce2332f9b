package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.normalisation.EmbeddingNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

final class FuseEmbeddingsTest {
    private static final Predicate<Node> EMBEDDING_NORMS = node -> node.op() instanceof EmbeddingNorm;

    private static Value rows(GraphBuilder g, String name) {
        Value table =
                g.constant(new Seeded(name.hashCode()).array(DType.F32, 5, 6).toConstant());
        return g.add(new Gather(0), table, g.input(name, TensorType.of(DType.I64, 2, 3)));
    }

    private static Value places(GraphBuilder g) {
        return g.constant(new Seeded(3).array(DType.F32, 1, 3, 6).toConstant());
    }

    private static Value norm(GraphBuilder g, Value x) {
        Value scale = g.constant(new Seeded(1).array(DType.F32, 6).toConstant());
        Value bias = g.constant(new Seeded(2).array(DType.F32, 6).toConstant());
        return g.add(new LayerNorm(x.shape().rank() - 1, 1e-5, true, true), x, scale, bias);
    }

    /** What is planned where embedding norms are run whole: the same results; its operations in order. */
    private static List<String> operations(Consumer<GraphBuilder> build) {
        Graph graph = GraphBuilder.build("embeddings", build);
        Map<String, NdArray> inputs = new HashMap<>();
        graph.inputs().forEach(input -> inputs.put(input.name(), NdArray.of(input.type(), 0L, -1L, 4L, -5L, 2L, 3L)));
        Graph planned = Planned.graph(graph, EMBEDDING_NORMS);
        Planned.assertSame(graph, planned, inputs);
        return Planned.operations(planned);
    }

    @Test
    void rowsAndASummandBecomeOneNode() {
        assertThat(operations(g -> g.output("y", norm(g, g.add(g.add(rows(g, "ids"), rows(g, "types")), places(g))))))
                .containsExactly("embedding_norm");
        assertThat(operations(g -> g.output("y", norm(g, g.add(places(g), rows(g, "ids"))))))
                .containsExactly("embedding_norm");
        assertThat(operations(g -> g.output("y", norm(g, g.add(rows(g, "ids"), rows(g, "types"))))))
                .containsExactly("embedding_norm");
    }

    @Test
    void sumsOfNamedSizesFuseBeforeTheyHaveNumbers() {
        Graph graph = GraphBuilder.build("named", g -> {
            Dim[] dims = {Dim.named("batch"), Dim.named("length")};
            Value table = g.constant(new Seeded(4).array(DType.F32, 5, 6).toConstant());
            Value ids = g.add(new Gather(0), table, g.input("ids", DType.I64, dims));
            Value types = g.add(new Gather(0), table, g.input("types", DType.I64, dims));
            Value place = g.input("place", DType.F32, Dim.of(1), dims[1], Dim.of(6));
            g.output("y", norm(g, g.add(g.add(ids, types), place)));
        });
        Graph reduced = new Compiler(CompilerOptions.defaults(), EMBEDDING_NORMS)
                .prepare(graph, Map.of())
                .reduced();
        assertThat(reduced.nodes().stream().map(node -> node.op().mnemonic())).containsExactly("embedding_norm");
    }

    @Test
    void castsWithinASumGo() {
        assertThat(operations(g -> {
                    Value half = g.add(new Cast(DType.F64, false), g.add(rows(g, "ids"), places(g)));
                    g.output("y", norm(g, g.add(new Cast(DType.F32, false), half)));
                }))
                .containsExactly("embedding_norm");
    }

    @Test
    void sumsThatOthersReadAndSumsOfTwoSummandsStay() {
        assertThat(operations(g -> {
                    Value sum = g.add(rows(g, "ids"), places(g));
                    g.output("y", norm(g, sum));
                    g.output("sum", sum);
                }))
                .doesNotContain("embedding_norm");
        assertThat(operations(g -> {
                    Value other = g.mul(places(g), rows(g, "types"));
                    g.output("y", norm(g, g.add(g.add(rows(g, "ids"), places(g)), other)));
                }))
                .doesNotContain("embedding_norm");
        assertThat(operations(g -> g.output("y", norm(g, rows(g, "ids"))))).containsExactly("gather", "layer_norm");
    }
}
