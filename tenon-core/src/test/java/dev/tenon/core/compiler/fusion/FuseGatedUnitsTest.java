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
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Gated linear units as exporters spell them: the text after the pass, and the same results. */
final class FuseGatedUnitsTest {
    private static final int OF_SECOND = 1;
    private static final int TURNED_OVER = 2;
    private static final int SPLIT = 4;
    private static final int SPELLED_SILU = 8;
    private static final int PRODUCTS = 16;
    private static final int BIAS = 32;

    private static final Predicate<Node> UNITS = node -> node.op() instanceof GatedUnit;

    private static Graph unit(int form) {
        return GraphBuilder.build("unit", g -> {
            Value a;
            Value b;
            if ((form & PRODUCTS) != 0) {
                Value x = g.input("x", TensorType.of(DType.F32, 2, 5, 8));
                a = product(g, x, form, 1);
                b = product(g, x, form, 2);
            } else {
                Value x = g.input("x", TensorType.of(DType.F32, 2, 5, 12));
                List<Value> halves =
                        (form & SPLIT) != 0 ? g.split(x, 2, 6, 6) : List.of(g.slice(x, 2, 0, 6), g.slice(x, 2, 6, 12));
                a = halves.get(form & OF_SECOND);
                b = halves.get(1 - (form & OF_SECOND));
            }
            Value gate = (form & SPELLED_SILU) != 0 ? g.mul(a, g.unary(UnaryFn.SIGMOID, a)) : g.unary(UnaryFn.GELU, a);
            g.output("y", (form & TURNED_OVER) != 0 ? g.mul(b, gate) : g.mul(gate, b));
        });
    }

    private static Value product(GraphBuilder g, Value x, int form, long seed) {
        Seeded random = new Seeded(seed);
        Value y = g.matmul(x, g.constant(random.array(DType.F32, 8, 6).toConstant()));
        return (form & BIAS) != 0
                ? g.add(y, g.constant(random.array(DType.F32, 6).toConstant()))
                : y;
    }

    private static Graph after(Graph graph, Predicate<Node> claims) {
        PassContext context = new PassContext(claims, null);
        Graph epilogues = new FuseEpilogues().apply(graph, context);
        return new DeadCode().apply(new FuseGatedUnits().apply(epilogues, context), context);
    }

    private static List<String> ops(Graph graph) {
        return graph.nodes().stream().map(node -> node.op().mnemonic()).toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 24, 26, 48, 50, 56, 58})
    void becomesOneStep(int form) {
        Graph graph = unit(form);
        Graph after = after(graph, UNITS);
        assertThat(ops(after))
                .as("%s", after)
                .isEqualTo((form & PRODUCTS) != 0 ? List.of("mat_mul", "gated_unit") : List.of("gated_unit"));
        assertSame(graph, after, form);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 8, 11})
    void isFoundInRegions(int form) {
        Graph graph = unit(form);
        PassContext context = new PassContext(UNITS, null);
        Graph after = new FuseGatedUnits().apply(FuseElementwise.ofPlan().apply(graph, context), context);
        assertThat(ops(new DeadCode().apply(after, context))).containsExactly("gated_unit");
        assertSame(graph, after, form);
    }

    @Test
    void textBeforeAndAfter() {
        assertThat(unit(0).toString()).contains("slice", "unary(fn=gelu)", "binary(fn=mul)");
        assertThat(after(unit(OF_SECOND), UNITS).toString())
                .contains("%gated_unit: f32[2,5,6] = gated_unit(activation=(fn=gelu), second=true) %x");
    }

    @Test
    void otherHalvesStay() {
        for (long[] cut : new long[][] {{0, 6, 3, 9}, {0, 6, 0, 6}, {0, 4, 4, 8}}) {
            Graph graph = GraphBuilder.build("other", g -> {
                Value x = g.input("x", TensorType.of(DType.F32, 2, 12));
                Value gate = g.unary(UnaryFn.GELU, g.slice(x, 1, cut[0], cut[1]));
                g.output("y", g.mul(gate, g.slice(x, 1, cut[2], cut[3])));
            });
            assertThat(ops(after(graph, UNITS))).contains("slice").doesNotContain("gated_unit");
        }
    }

    @Test
    void gatesThatAreReadElsewhereStay() {
        Graph graph = GraphBuilder.build("read", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 12));
            Value gate = g.unary(UnaryFn.GELU, g.slice(x, 1, 0, 6));
            g.output("y", g.mul(gate, g.slice(x, 1, 6, 12)));
            g.output("gate", gate);
        });
        assertThat(ops(after(graph, UNITS))).doesNotContain("gated_unit");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 16, 24})
    void staysWhereTheBackendDoesNotRunIt(int form) {
        Graph graph = unit(form);
        assertThat(ops(after(graph, node -> false))).doesNotContain("gated_unit");
        assertThat(ops(Planned.graph(graph, node -> false))).doesNotContain("gated_unit");
    }

    /** Any leading dims, any width, either half first, in a split or slices. */
    @Test
    void randomUnitsKeepTheirResults() {
        for (int seed = 0; seed < 40; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            long rows = random.nextInt(1, 6);
            long half = random.nextInt(1, 20);
            boolean second = random.nextBoolean();
            UnaryFn fn = List.of(UnaryFn.GELU, UnaryFn.TANH, UnaryFn.SIGMOID, UnaryFn.RELU)
                    .get(random.nextInt(4));
            Graph graph = GraphBuilder.build("random", g -> {
                Value x = g.input("x", TensorType.of(DType.F32, rows, 2, 2 * half));
                Value a = g.slice(x, 2, second ? half : 0, second ? 2 * half : half);
                Value b = g.slice(x, 2, second ? 0 : half, second ? half : 2 * half);
                g.output("y", random.nextBoolean() ? g.mul(g.unary(fn, a), b) : g.mul(b, g.unary(fn, a)));
            });
            Graph after = after(graph, UNITS);
            assertThat(ops(after)).containsExactly("gated_unit");
            Map<String, NdArray> inputs = Map.of("x", new Seeded(seed).array(DType.F32, rows, 2, 2 * half));
            Tolerance.of(DType.F32, 16)
                    .check(
                            after.toString(),
                            Interpreter.run(graph, inputs).get("y"),
                            Interpreter.run(after, inputs).get("y"));
        }
    }

    private static void assertSame(Graph graph, Graph after, int form) {
        Map<String, NdArray> inputs = new HashMap<>();
        NdArray x = new Seeded(form)
                .array(DType.F32, graph.inputs().getFirst().shape().sizes());
        x.set(3, Double.NaN);
        x.set(60, Double.POSITIVE_INFINITY);
        inputs.put("x", x);
        NdArray expected = Interpreter.run(graph, inputs).get("y");
        Tolerance.of(expected.dtype(), 16)
                .check(
                        after.toString(),
                        expected,
                        Interpreter.run(after, inputs).get("y"));
    }
}
