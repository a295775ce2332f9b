package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.testkit.Seeded;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attention of three thirds of one operand, rotated or not: the text after the pass, and the same results. */
final class PackHeadsTest {
    private static final int ROTATED = 1;
    private static final int MASKED = 2;
    private static final int OF_COLUMNS = 4;
    private static final int OTHER_ORDER = 8;
    private static final int KEYS_ALONE = 16;

    private static final Predicate<dev.tenon.core.ir.Node> ATTENTION = node -> node.op() instanceof PlainAttention;

    private static Graph attention(int form) {
        return GraphBuilder.build("attention", g -> {
            boolean columns = (form & OF_COLUMNS) != 0;
            TensorType type = columns ? TensorType.of(DType.F32, 2, 5, 36) : TensorType.of(DType.F32, 2, 5, 3, 3, 4);
            Value x = g.input("x", type);
            List<Value> operands = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                int part = (form & OTHER_ORDER) != 0 ? 2 - i : i;
                Value cut = columns ? g.slice(x, 2, 12L * part, 12L * part + 12) : g.slice(x, 2, part, part + 1);
                operands.add(g.reshape(cut, 2, 5, 3, 4));
            }
            rotate(g, operands, form);
            if ((form & MASKED) != 0) {
                operands.add(g.input("mask", TensorType.of(DType.F32, 5, 5)));
            }
            g.output(
                    "y",
                    g.add("", new PlainAttention((form & MASKED) != 0, 0.5), operands)
                            .getFirst());
        });
    }

    private static void rotate(GraphBuilder g, List<Value> operands, int form) {
        Seeded random = new Seeded(form);
        Value cos = g.constant(random.array(DType.F32, 5, 1, 2).toConstant());
        Value sin = g.constant(random.array(DType.F32, 5, 1, 2).toConstant());
        for (int i = 0; i < 2; i++) {
            if ((form & ROTATED) != 0 || ((form & KEYS_ALONE) != 0 && i == 1)) {
                operands.set(
                        i,
                        g.add("", new Rope(false, 0), List.of(operands.get(i), cos, sin))
                                .getFirst());
            }
        }
    }

    private static Graph after(Graph graph, Pass pass, Predicate<dev.tenon.core.ir.Node> claims) {
        PassContext context = new PassContext(claims, null);
        return new DeadCode().apply(pass.apply(graph, context), context);
    }

    private static List<String> ops(Graph graph) {
        return graph.nodes().stream()
                .map(node -> node.op().mnemonic())
                .filter(op -> !op.equals("reshape"))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void thirdsAreTakenPacked(int form) {
        Graph graph = attention(form);
        Graph after = after(graph, new PackHeads(), ATTENTION);
        assertThat(ops(after))
                .as("%s", after)
                .isEqualTo((form & ROTATED) != 0 ? List.of("rope", "plain_attention") : List.of("plain_attention"));
        assertSame(graph, after, form);
    }

    @Test
    void textBeforeAndAfter() {
        assertThat(attention(ROTATED).toString()).contains("slice", "plain_attention(scale=0.5) %rope, %rope.");
        assertThat(after(attention(ROTATED), new PackHeads(), ATTENTION).toString())
                .contains(": f32[2,5,9,4] = rope(rows=6) ")
                .contains("plain_attention(packed=true, scale=0.5) ");
    }

    @ParameterizedTest
    @ValueSource(ints = {OTHER_ORDER, ROTATED + OTHER_ORDER, KEYS_ALONE, OF_COLUMNS + KEYS_ALONE})
    void otherThirdsStay(int form) {
        Graph graph = attention(form);
        assertThat(after(graph, new PackHeads(), ATTENTION)).isEqualTo(graph);
    }

    @Test
    void onlyWhereTheBackendTakesThemPacked() {
        Graph graph = attention(0);
        assertThat(after(graph, new PackHeads(), node -> false)).isEqualTo(graph);
    }

    /** Three products with constants, two of them rotated. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rotatedProjectionsBecomeOneProductAndOneRotation(boolean mask) {
        Graph graph = GraphBuilder.build("projections", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 5, 8));
            List<Value> operands = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Value w = g.constant(new Seeded(i).array(DType.F32, 8, 12).toConstant());
                operands.add(g.reshape(g.add(MatMul.plain(), x, w), 2, 5, 3, 4));
            }
            rotate(g, operands, ROTATED);
            if (mask) {
                operands.add(g.input("mask", TensorType.of(DType.F32, 5, 5)));
            }
            g.output("y", g.add("", new PlainAttention(mask, 0.5), operands).getFirst());
        });
        Graph after = after(graph, new MergeParallelProducts(), ATTENTION);
        assertThat(ops(after)).as("%s", after).containsExactly("mat_mul", "rope", "plain_attention");
        assertSame(graph, after, 5);
    }

    private static void assertSame(Graph graph, Graph after, int form) {
        Map<String, NdArray> inputs = new HashMap<>();
        Seeded random = new Seeded(form + 50);
        graph.inputs()
                .forEach(input -> inputs.put(
                        input.name(), random.array(input.dtype(), input.shape().sizes())));
        inputs.get("x").set(3, Double.NaN);
        inputs.get("x").set(70, Double.POSITIVE_INFINITY);
        NdArray expected = Interpreter.run(graph, inputs).get("y");
        Tolerance.of(expected.dtype(), 16)
                .check(
                        after.toString(),
                        expected,
                        Interpreter.run(after, inputs).get("y"));
    }
}
