package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.ProjectedAttention;
import dev.tenon.core.ir.op.contraction.Epilogue;
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

/** Attention of one product's heads: the text after the pass, and the same results. */
final class FuseProjectedAttentionTest {
    private static final int MASKED = 1;
    private static final int BIASED = 2;
    private static final int READ = 4;
    private static final int APART = 8;

    private static final Predicate<Node> ALL = node -> node.op() instanceof ProjectedAttention;

    private static Graph attention(int form) {
        return GraphBuilder.build("attention", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 5, 8));
            Value w = g.constant(new Seeded(1).array(DType.F32, 8, 36).toConstant());
            boolean biased = (form & BIASED) != 0;
            List<Value> factors = new ArrayList<>(List.of(x, w));
            if (biased) {
                factors.add(g.constant(new Seeded(2).array(DType.F32, 36).toConstant()));
            }
            MatMul op = new MatMul(false, false, biased ? Epilogue.NONE.withBias() : Epilogue.NONE);
            Value product = g.addAll(op, factors).getFirst();
            if ((form & READ) != 0) {
                g.output("z", g.unary(UnaryFn.TANH, product));
            }
            List<Value> operands = new ArrayList<>();
            if ((form & APART) == 0) {
                operands.add(g.reshape(product, 2, 5, 3, 3, 4));
            } else {
                for (int i = 0; i < 3; i++) {
                    operands.add(g.reshape(g.slice(product, 2, 12L * i, 12L * i + 12), 2, 5, 3, 4));
                }
            }
            boolean masked = (form & MASKED) != 0;
            if (masked) {
                operands.add(g.input("mask", TensorType.of(DType.F32, 2, 1, 1, 5)));
            }
            PlainAttention attention = new PlainAttention(masked, (form & APART) == 0, 0.5, true);
            g.output("y", g.addAll(attention, operands).getFirst());
        });
    }

    private static Graph after(Graph graph, Predicate<Node> claims) {
        PassContext context = new PassContext(claims, null);
        return new DeadCode().apply(new FuseProjectedAttention().apply(graph, context), context);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, MASKED, BIASED, MASKED + BIASED})
    void productTakesTheAttentionOfItsHeads(int form) {
        Graph graph = attention(form);
        Graph after = after(graph, ALL);
        assertThat(after.nodes())
                .extracting(node -> node.op().mnemonic())
                .as("%s", after)
                .containsExactly("projected_attention");
        Map<String, NdArray> inputs = new HashMap<>();
        Seeded random = new Seeded(form + 50);
        graph.inputs()
                .forEach(input -> inputs.put(
                        input.name(), random.array(input.dtype(), input.shape().sizes())));
        inputs.get("x").set(3, Double.NaN);
        NdArray expected = Interpreter.run(graph, inputs).get("y");
        Tolerance.of(DType.F32, 16)
                .check(
                        after.toString(),
                        expected,
                        Interpreter.run(after, inputs).get("y"));
    }

    @Test
    void textAfter() {
        assertThat(after(attention(MASKED + BIASED), ALL).toString())
                .contains(": f32[2,5,3,4] = projected_attention(")
                .contains("heads=3");
    }

    @ParameterizedTest
    @ValueSource(ints = {READ, APART, READ + MASKED})
    void productsThatOthersReadAndPartsStay(int form) {
        Graph graph = attention(form);
        assertThat(after(graph, ALL)).isEqualTo(graph);
    }

    @Test
    void onlyWhereTheBackendTakesThem() {
        Graph graph = attention(BIASED);
        assertThat(after(graph, node -> false)).isEqualTo(graph);
    }
}
