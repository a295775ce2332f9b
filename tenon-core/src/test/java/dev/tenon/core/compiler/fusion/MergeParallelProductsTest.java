package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.compiler.Prepared;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class MergeParallelProductsTest {
    private static final int KEY_HAS_NO_BIAS = 8;
    private static final int KEY_IS_AN_OUTPUT = 16;

    /** Bit 0: biases; bit 1: weights lie transposed; bit 2: a mask. */
    private static Graph attention(int form) {
        Seeded random = new Seeded(form);
        return GraphBuilder.build("attention", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 5, 8));
            Value q = projected(g, x, random, form, true);
            Value k = projected(g, x, random, form, (form & KEY_HAS_NO_BIAS) == 0);
            Value v = projected(g, x, random, form, true);
            boolean mask = (form & 4) != 0;
            List<Value> inputs =
                    mask ? List.of(q, k, v, g.input("mask", TensorType.of(DType.F32, 5, 5))) : List.of(q, k, v);
            g.output("y", g.add("", new PlainAttention(mask, 0.5), inputs).getFirst());
            if ((form & KEY_IS_AN_OUTPUT) != 0) {
                g.output("k", k);
            }
        });
    }

    private static Value projected(GraphBuilder g, Value x, Seeded random, int form, boolean mayHaveBias) {
        boolean transposed = (form & 2) != 0;
        boolean bias = (form & 1) != 0 && mayHaveBias;
        Value w = g.constant(random.array(DType.F32, transposed ? 12 : 8, transposed ? 8 : 12)
                .toConstant());
        MatMul product = new MatMul(false, transposed, bias ? Epilogue.NONE.withBias() : Epilogue.NONE);
        List<Value> operands =
                bias ? List.of(x, w, g.constant(random.array(DType.F32, 12).toConstant())) : List.of(x, w);
        return g.reshape(g.add("", product, operands).getFirst(), 2, 5, 3, 4);
    }

    private static Compiler compiler(Predicate<Node> claims) {
        return new Compiler(CompilerOptions.defaults(), claims);
    }

    private static long products(Graph graph) {
        return graph.nodes().stream()
                .filter(node -> node.op() instanceof MatMul)
                .count();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void threeProjectionsBecomeOne(int form) {
        Graph graph = attention(form);
        Graph merged = Planned.graph(graph, node -> node.op() instanceof PlainAttention);
        assertThat(products(merged)).as("%s", merged).isEqualTo(1);
        assertThat(merged.nodes()).anyMatch(node -> node.op() instanceof PlainAttention op && op.packed());
        Seeded random = new Seeded(form + 100);
        Map<String, NdArray> inputs = new java.util.HashMap<>();
        graph.inputs()
                .forEach(input -> inputs.put(
                        input.name(), random.array(input.dtype(), input.shape().sizes())));
        assertThat(Interpreter.run(merged, inputs).get("y").toDoubles())
                .containsExactly(Interpreter.run(graph, inputs).get("y").toDoubles(), within(1e-5));
    }

    @ParameterizedTest
    @ValueSource(ints = {1 + KEY_HAS_NO_BIAS, KEY_IS_AN_OUTPUT})
    void differentOrOtherwiseUsedProjectionsStay(int form) {
        assertThat(products(Planned.graph(attention(form), node -> node.op() instanceof PlainAttention)))
                .isEqualTo(3);
    }

    @Test
    void onlyWhereTheBackendTakesThemPacked() {
        Predicate<Node> separate = node -> node.op() instanceof PlainAttention op && !op.packed();
        assertThat(products(Planned.graph(attention(1), separate))).isEqualTo(3);
    }

    /** Projections of x [b,l,8] that are shown as heads by sizes that depend on x, read off x or off a projection. */
    private static Graph ofAnySize(long third, boolean ofProjection) {
        Seeded random = new Seeded(third);
        return GraphBuilder.build("attention", g -> {
            Value x = g.input("x", DType.F32, Dim.named("b"), Dim.named("l"), Dim.of(8));
            List<Value> products = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Value w = g.constant(random.array(DType.F32, 8, 12).toConstant());
                products.add(g.add(MatMul.plain(), x, w));
            }
            Value sizes = g.add(
                    new Concat(0),
                    g.add(
                            Slice.along(Shape.of(3), 0, 0, 2),
                            g.add(new ShapeOf(0, Long.MAX_VALUE), ofProjection ? products.get(1) : x)),
                    g.constant(NdArray.ofLongs(third, 4).toConstant()));
            List<Value> parts = new ArrayList<>();
            for (Value product : products) {
                parts.add(g.add(new ReshapeTo(false), product, sizes));
            }
            g.output("y", g.add("", new PlainAttention(false, 0.5), parts).getFirst());
        });
    }

    @ParameterizedTest
    @CsvSource({"3,false", "-1,false", "3,true", "-1,true"})
    void projectionsBecomeOneBeforeSizesAreKnown(long third, boolean ofProjection) {
        Graph graph = ofAnySize(third, ofProjection);
        Prepared prepared =
                compiler(node -> node.op() instanceof PlainAttention).prepare(graph, Map.of());
        // that whose sizes are read goes when they are known
        assertThat(products(prepared.reduced())).as("%s", prepared.reduced()).isEqualTo(ofProjection ? 2 : 1);
        for (long[] size : new long[][] {{2, 5}, {1, 1}, {3, 4}}) {
            NdArray x = new Seeded(7).array(DType.F32, size[0], size[1], 8);
            Graph planned = compiler(node -> node.op() instanceof PlainAttention)
                    .plan(prepared, Map.of("x", x.type()), Map.of())
                    .plan()
                    .graph();
            assertThat(products(planned)).isEqualTo(1);
            assertThat(Interpreter.run(planned, Map.of("x", x)).get("y").toDoubles())
                    .containsExactly(
                            Interpreter.run(graph, Map.of("x", x)).get("y").toDoubles(), within(1e-5));
        }
    }

    @Test
    void joinedConstantsAreMadeOnce() {
        Graph graph = attention(1);
        Compiler compiler = compiler(node -> node.op() instanceof PlainAttention);
        Prepared prepared = compiler.prepare(graph, Map.of());
        Map<String, TensorType> types = Map.of("x", TensorType.of(DType.F32, 2, 5, 8));
        Graph one = compiler.plan(prepared, types, Map.of()).plan().graph();
        Graph other = compiler.plan(prepared, types, Map.of()).plan().graph();
        assertThat(one.constants().stream().map(Value::constant).toList())
                .isEqualTo(other.constants().stream().map(Value::constant).toList());
    }
}
