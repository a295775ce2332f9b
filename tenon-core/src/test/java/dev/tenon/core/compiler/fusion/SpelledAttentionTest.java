package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SpelledAttentionTest {
    private static final Predicate<Node> EVERYTHING = node -> true;

    /** As BERT is exported: projections [B,L,H*D] seen as heads, a divided score, a mask that is broadcast. */
    private static Graph spelled(boolean mask, boolean division, boolean keyTransposed) {
        return spelled(mask, division, keyTransposed, false);
    }

    /** @param guarded whether weights that are NaN count as 0 */
    private static Graph spelled(boolean mask, boolean division, boolean keyTransposed, boolean guarded) {
        return GraphBuilder.build("spelled", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 5, 12));
            Value heads = g.reshape(x, 2, 5, 3, 4);
            Value q = g.transpose(heads, 0, 2, 1, 3);
            Value v = g.transpose(g.unary(UnaryFn.NEG, heads), 0, 2, 1, 3);
            Value scores = keyTransposed
                    ? g.matmul(q, g.transpose(heads, 0, 2, 3, 1))
                    : g.add(new MatMul(false, true, Epilogue.NONE), q, g.transpose(heads, 0, 2, 1, 3));
            Value scaled = division ? g.div(scores, g.scalar(DType.F32, 2)) : g.mul(g.scalar(DType.F32, 0.5), scores);
            Value seen = mask ? g.add(g.input("mask", TensorType.of(DType.F32, 2, 1, 1, 5)), scaled) : scaled;
            Value weights = g.softmax(seen, 3);
            if (guarded) {
                weights = g.where(g.unary(UnaryFn.IS_NAN, weights), g.scalar(DType.F32, 0), weights);
            }
            Value mixed = g.transpose(g.matmul(weights, v), 0, 2, 1, 3);
            g.output("y", g.reshape(mixed, 2, 5, 12));
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void becomesOneOperationWithoutTransposes(int form) {
        Graph graph = spelled((form & 1) != 0, (form & 2) != 0, (form & 4) != 0);
        Graph fused = Planned.graph(graph, EVERYTHING);
        assertThat(fused.nodes().stream().filter(node -> node.op() instanceof PlainAttention))
                .as("%s", fused)
                .hasSize(1);
        assertThat(fused.nodes().stream().map(node -> node.op().mnemonic())).doesNotContain("transpose", "softmax");
        Seeded random = new Seeded(form);
        Map<String, NdArray> inputs = new HashMap<>();
        graph.inputs()
                .forEach(input -> inputs.put(
                        input.name(), random.array(input.dtype(), input.shape().sizes())));
        double[] expected = Interpreter.run(graph, inputs).get("y").toDoubles();
        double[] actual = Interpreter.run(fused, inputs).get("y").toDoubles();
        assertThat(actual).containsExactly(expected, within(1e-6));
    }

    /** As PyTorch exports models of halves by tracing: the first layer's mask is f32. */
    @Test
    void scoresOfHalvesMayBecomeF32BehindTheirProduct() {
        Seeded random = new Seeded(11);
        Graph graph = GraphBuilder.build("halves", g -> {
            Value x = g.input("x", TensorType.of(DType.F16, 2, 5, 12));
            Value[] heads = new Value[3];
            for (int i = 0; i < heads.length; i++) {
                Value columns = g.matmul(
                        x,
                        g.constant(random.floats(DType.F16, -0.25, 0.25, 12, 12).toConstant()));
                heads[i] = g.reshape(columns, 2, 5, 3, 4);
            }
            Value half = g.scalar(DType.F16, 0.5);
            Value q = g.mul(g.transpose(heads[0], 0, 2, 1, 3), half);
            Value k = g.mul(g.transpose(heads[1], 0, 2, 3, 1), half);
            Value scores =
                    g.add(g.cast(g.matmul(q, k), DType.F32), g.input("mask", TensorType.of(DType.F32, 2, 1, 1, 5)));
            Value v = g.cast(g.transpose(heads[2], 0, 2, 1, 3), DType.F32);
            Value mixed = g.transpose(g.matmul(g.softmax(scores, 3), v), 0, 2, 1, 3);
            g.output("y", g.reshape(mixed, 2, 5, 12));
        });
        Graph fused = Planned.graph(graph, EVERYTHING);
        assertThat(fused.nodes().stream().map(node -> node.op().mnemonic()).filter(word -> !word.equals("reshape")))
                .containsExactly("mat_mul", "cast", "plain_attention");
        Map<String, NdArray> inputs = new HashMap<>();
        graph.inputs()
                .forEach(input -> inputs.put(
                        input.name(), random.array(input.dtype(), input.shape().sizes())));
        double[] expected = Interpreter.run(graph, inputs).get("y").toDoubles();
        double[] actual = Interpreter.run(fused, inputs).get("y").toDoubles();
        assertThat(actual).containsExactly(expected, within(1e-3));
    }

    @Test
    void weightsThatAreNanMayCountAsZero() {
        Graph graph = spelled(true, true, true, true);
        Graph fused = Planned.graph(graph, EVERYTHING);
        assertThat(fused.nodes())
                .as("%s", fused)
                .filteredOn(node -> node.op() instanceof PlainAttention op && op.guarded())
                .hasSize(1);
        assertThat(fused.nodes().stream().map(node -> node.op().mnemonic()))
                .doesNotContain("transpose", "softmax", "where", "region");
        NdArray x = new Seeded(3).array(DType.F32, 2, 5, 12);
        NdArray mask = NdArray.zeros(DType.F32, 2, 1, 1, 5);
        for (int i = 0; i < 7; i++) {
            mask.set(i, Double.NEGATIVE_INFINITY);
        }
        Map<String, NdArray> inputs = Map.of("x", x, "mask", mask);
        double[] expected = Interpreter.run(graph, inputs).get("y").toDoubles();
        assertThat(expected).startsWith(0.0, 0.0, 0.0).doesNotContain(Double.NaN);
        assertThat(Interpreter.run(fused, inputs).get("y").toDoubles()).containsExactly(expected, within(1e-6));
    }

    @Test
    void staysAsItIsWhereTheBackendDoesNotRunIt() {
        assertThat(Planned.graph(spelled(true, true, true), node -> false).nodes())
                .noneMatch(node -> node.op() instanceof PlainAttention);
    }

    @Test
    void staysAsItIsWhereItsScaleIsNoNumber() {
        TensorType type = TensorType.of(DType.F64, 1, 1, 2, 2);
        Graph graph = GraphBuilder.build("large", g -> {
            Value x = g.input("x", type);
            Value large = g.mul(x, g.scalar(DType.F64, 1e200));
            Value larger = g.mul(g.input("k", type), g.scalar(DType.F64, 1e200));
            g.output("y", g.matmul(g.softmax(g.add(new MatMul(false, true, Epilogue.NONE), large, larger), 3), x));
        });
        assertThat(Planned.graph(graph, EVERYTHING).nodes()).noneMatch(node -> node.op() instanceof PlainAttention);
    }
}
