package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.testkit.Seeded;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rotations as exporters spell them: the operations after the pass, and the same results, NaN and infinities too. */
final class SpelledRopeTest {
    private static final int OF_CONSTANTS = 1;
    private static final int TURNED_OVER = 2;
    private static final int TRANSPOSED = 4;
    private static final int SHORT = 8;
    private static final int LAST_SPLIT = 16;

    /** Heads [2,3,5,8] whose halves are rotated by angles [5,4] of positions. */
    private static Graph spelled(int form, boolean sameHalves) {
        return GraphBuilder.build("spelled", g -> {
            DType type = (form & SHORT) != 0 ? DType.F16 : DType.F32;
            boolean transposed = (form & TRANSPOSED) != 0;
            Value given = g.input("x", TensorType.of(type, 2, transposed ? 5 : 3, transposed ? 3 : 5, 8));
            Value heads = transposed ? g.transpose(given, 0, 2, 1, 3) : given;
            Value x = g.cast(heads, DType.F32);
            Value of = (form & OF_CONSTANTS) != 0 ? x : g.input("angles", TensorType.of(DType.F32, 1, 5, 4));
            Value cos = angles(g, form, UnaryFn.COS, of, sameHalves);
            Value sin = angles(g, form, UnaryFn.SIN, of, true);
            List<Value> halves =
                    (form & LAST_SPLIT) != 0 ? g.split(x, 3, 4, 4) : List.of(g.slice(x, 3, 0, 4), g.slice(x, 3, 4, 8));
            Value swapped = g.concat(List.of(g.unary(UnaryFn.NEG, halves.get(1)), halves.get(0)), 3);
            Value plain = (form & TURNED_OVER) != 0 ? g.mul(cos, x) : g.mul(x, cos);
            Value other = (form & TURNED_OVER) != 0 ? g.mul(sin, swapped) : g.mul(swapped, sin);
            Value sum = (form & TURNED_OVER) != 0 ? g.add(other, plain) : g.add(plain, other);
            Value y = g.cast(sum, type);
            g.output("y", transposed ? g.transpose(y, 0, 2, 1, 3) : y);
        });
    }

    private static Value angles(GraphBuilder g, int form, UnaryFn fn, Value of, boolean sameHalves) {
        if ((form & OF_CONSTANTS) != 0) {
            NdArray half = new Seeded(fn.ordinal()).array(DType.F32, 5, 4);
            NdArray whole = NdArray.zeros(DType.F32, 1, 1, 5, 8);
            for (int i = 0; i < whole.size(); i++) {
                whole.set(i, half.get(i / 8 * 4 + i % 4) + (sameHalves || i != 38 ? 0 : 0.25));
            }
            return g.constant(whole.toConstant());
        }
        Value both = g.concat(List.of(of, sameHalves ? of : g.unary(UnaryFn.ABS, of)), 2);
        return g.reshape(g.mul(g.unary(fn, both), 1.5), 1, 1, 5, 8);
    }

    private static Graph after(Graph graph) {
        PassContext context = new PassContext(node -> node.op() instanceof Rope, null);
        return new DeadCode().apply(new SpelledRope().apply(graph, context), context);
    }

    private static List<String> ops(Graph graph) {
        return graph.nodes().stream().map(node -> node.op().mnemonic()).toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 28, 29})
    void becomesRope(int form) {
        Graph graph = spelled(form, true);
        Graph after = after(graph);
        List<String> left = new ArrayList<>(ops(after));
        // what angles are made of, for one half now
        left.removeIf(op -> (form & OF_CONSTANTS) == 0 && !op.equals("rope") && !op.equals("transpose"));
        left.remove("reshape");
        left.remove("reshape");
        assertThat(left).as("%s", after).containsExactly("rope");
        assertSame(graph, after, form);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4, 13})
    void halvesThatDifferStay(int form) {
        Graph after = after(spelled(form, false));
        assertThat(ops(after)).doesNotContain("rope").contains("concat");
    }

    /** Angles of each token and each head, as many as there are tokens: a transpose of heads turns theirs, too. */
    @Test
    void anglesOfTwoAxesDoNotPassATranspose() {
        NdArray angles = new Seeded(3).array(DType.F32, 3, 3, 4);
        Graph graph = GraphBuilder.build("axes", g -> {
            Value x = g.transpose(g.input("x", TensorType.of(DType.F32, 2, 3, 3, 8)), 0, 2, 1, 3);
            Value of = g.constant(angles.toConstant());
            g.output("y", g.rope(x, g.unary(UnaryFn.COS, of), g.unary(UnaryFn.SIN, of), false));
        });
        Graph after = after(graph);
        assertThat(ops(after)).containsSubsequence("transpose", "rope");
        assertSame(graph, after, 0);
    }

    @Test
    void staysWhereTheBackendRatherRunsThePieces() {
        Graph graph = spelled(OF_CONSTANTS, true);
        assertThat(new SpelledRope().apply(graph, new PassContext(node -> false, null)))
                .isEqualTo(graph);
    }

    @Test
    void textBeforeAndAfter() {
        assertThat(after(spelled(OF_CONSTANTS + SHORT, true)).toString())
                .contains(": f16[2,3,5,8] = rope %x, ")
                .contains("f32[1,1,5,4] = data")
                .doesNotContain("concat", "cast", "slice");
    }

    /** Any rank, any size, angles of each token or of all. */
    @Test
    void randomRotationsKeepTheirResults() {
        for (int seed = 0; seed < 40; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            long half = random.nextInt(1, 9);
            long tokens = random.nextInt(1, 7);
            int rank = random.nextInt(2, 5);
            long[] sizes = {random.nextInt(1, 4), random.nextInt(1, 4), tokens, 2 * half};
            TensorType type = TensorType.of(DType.F32, Arrays.copyOfRange(sizes, 4 - rank, 4));
            long each = random.nextBoolean() ? tokens : 1;
            NdArray angles = new Seeded(seed).array(DType.F32, each, half);
            Graph graph = GraphBuilder.build("random", g -> {
                Value x = g.input("x", type);
                Value of = g.constant(angles.toConstant());
                Value both = g.concat(List.of(of, of), 1);
                Value swapped = g.concat(
                        List.of(
                                g.unary(UnaryFn.NEG, g.slice(x, rank - 1, half, 2 * half)),
                                g.slice(x, rank - 1, 0, half)),
                        rank - 1);
                Value cos = g.unary(UnaryFn.COS, both);
                g.output("y", g.add(g.mul(x, cos), g.mul(swapped, g.unary(UnaryFn.SIN, both))));
            });
            Graph after = after(graph);
            assertThat(ops(after)).contains("rope").doesNotContain("concat", "slice");
            Map<String, NdArray> inputs = Map.of(
                    "x", new Seeded(seed + 100).array(DType.F32, type.shape().sizes()));
            Tolerance.of(DType.F32, 16)
                    .check(
                            after.toString(),
                            Interpreter.run(graph, inputs).get("y"),
                            Interpreter.run(after, inputs).get("y"));
        }
    }

    private static void assertSame(Graph graph, Graph after, int form) {
        Map<String, NdArray> inputs = new HashMap<>();
        Seeded random = new Seeded(form);
        graph.inputs()
                .forEach(input -> inputs.put(
                        input.name(), random.array(input.dtype(), input.shape().sizes())));
        NdArray x = inputs.get("x");
        x.set(7, Double.NaN);
        x.set(31, Double.POSITIVE_INFINITY);
        x.set(100, Double.NEGATIVE_INFINITY);
        NdArray expected = Interpreter.run(graph, inputs).get("y");
        Tolerance.of(expected.dtype(), 16)
                .check(
                        after.toString(),
                        expected,
                        Interpreter.run(after, inputs).get("y"));
    }
}
