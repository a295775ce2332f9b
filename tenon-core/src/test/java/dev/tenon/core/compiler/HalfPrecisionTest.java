package dev.tenon.core.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.rewrite.HalfStore;
import dev.tenon.core.error.DTypeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.ProjectedAttention;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class HalfPrecisionTest {
    private static Value weight(dev.tenon.core.build.GraphBuilder g, Seeded random, long... sizes) {
        NdArray array = random.floats(DType.F32, -1, 1, sizes);
        return g.constant(array.toConstant());
    }

    private static Graph plan(Graph graph, DType half) {
        return plan(graph, half, node -> false);
    }

    private static Graph plan(Graph graph, DType half, Predicate<Node> claims) {
        return Planned.plan(graph, new Compiler(CompilerOptions.defaults(), claims, new HalfStore(half)))
                .graph();
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F16", "BF16"})
    void carriesProductsAndKeepsWhatNeedsRange(DType half) {
        Seeded random = new Seeded(7);
        Graph graph = GraphBuilder.build("head", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 3, 8));
            Value keep = g.input("keep", TensorType.of(DType.F32, 1, 5));
            Value h = g.unary(UnaryFn.GELU, g.add(g.matmul(x, weight(g, random, 8, 16)), weight(g, random, 16)));
            // a mask as exporters write it: far outside f16
            Value mask = g.mul(g.sub(g.scalar(DType.F32, 1), keep), g.scalar(DType.F32, -3.4028234663852886e38));
            g.output("p", g.softmax(g.add(g.matmul(h, weight(g, random, 16, 5)), mask), 1));
        });
        Graph planned = plan(graph, half);
        assertThat(planned.nodes().stream().filter(node -> node.op() instanceof MatMul))
                .as("%s", planned)
                .hasSize(2)
                .allMatch(node -> node.output().dtype() == half);
        assertThat(planned.outputs().get("p")).extracting(Value::dtype).isEqualTo(DType.F32);
        assertThat(planned.nodes()).noneMatch(HalfPrecisionTest::multipliesShortMask);
        Map<String, NdArray> inputs = Map.of(
                "x",
                random.floats(DType.F32, -1, 1, 3, 8),
                "keep",
                NdArray.of(TensorType.of(DType.F32, 1, 5), 1, 0, 1, 1, 0));
        double[] expected = Interpreter.run(graph, inputs).get("p").toDoubles();
        double[] actual = Interpreter.run(planned, inputs).get("p").toDoubles();
        assertThat(actual).containsExactly(expected, within(half == DType.F16 ? 5e-3 : 4e-2));
    }

    /** As on the CPU, whose attention is of f32 alone. */
    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F16", "BF16"})
    void whatIsClaimedOfF32AloneStaysF32(DType half) {
        Seeded random = new Seeded(9);
        Graph graph = GraphBuilder.build("heads", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 1, 3, 8));
            Value packed = g.reshape(g.matmul(x, weight(g, random, 8, 24)), 1, 3, 3, 2, 4);
            Value y = g.add(new PlainAttention(false, true, 0.5, false), packed);
            g.output("y", g.matmul(g.reshape(y, 1, 3, 8), weight(g, random, 8, 8)));
        });
        Graph some = plan(graph, half, node -> node.output().dtype() == DType.F32);
        assertThat(some.nodes().stream().filter(node -> node.op() instanceof PlainAttention))
                .as("%s", some)
                .singleElement()
                .satisfies(node -> assertThat(node.inputs()).allMatch(input -> input.dtype() == DType.F32));
        Graph all = plan(graph, half, node -> !(node.op() instanceof ProjectedAttention));
        assertThat(all.nodes().stream().filter(node -> node.op() instanceof PlainAttention))
                .as("%s", all)
                .singleElement()
                .satisfies(node -> assertThat(node.output().dtype()).isEqualTo(half));
    }

    /** Positions times frequencies, as exports of rotary embeddings have them: f16 has no odd numbers above 2048. */
    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F16", "BF16"})
    void anglesOfPositionsKeepTheirDigits(DType half) {
        Seeded random = new Seeded(8);
        Graph graph = GraphBuilder.build("angles", g -> {
            Value positions = g.cast(g.input("positions", TensorType.of(DType.I64, 1, 3)), DType.F32);
            Value frequencies = g.constant(
                    NdArray.of(TensorType.of(DType.F32, 2, 1), 1, 0.01).toConstant());
            Value x = g.matmul(g.input("x", TensorType.of(DType.F32, 2, 4)), weight(g, random, 4, 3));
            g.output("y", g.add(x, g.unary(UnaryFn.COS, g.matmul(frequencies, positions))));
        });
        Map<String, NdArray> inputs = Map.of(
                "positions",
                NdArray.of(TensorType.of(DType.I64, 1, 3), 7L, 1025L, 4099L),
                "x",
                random.floats(DType.F32, -1, 1, 2, 4));
        double[] expected = Interpreter.run(graph, inputs).get("y").toDoubles();
        double[] actual = Interpreter.run(plan(graph, half), inputs).get("y").toDoubles();
        assertThat(actual).containsExactly(expected, within(half == DType.F16 ? 5e-3 : 4e-2));
    }

    /** A product along a dim without a number adds nothing up where that becomes 1. */
    @Test
    void anglesAlongDimsWithoutNumbersKeepTheirDigits() {
        for (Dim summed : List.of(Dim.unknown(), Dim.named("k"))) {
            Graph graph = GraphBuilder.build("angles", g -> {
                Value positions = g.input("positions", DType.F32, Dim.named("n"), summed);
                Value frequencies = g.input("frequencies", DType.F32, summed, Dim.of(2));
                g.output("y", g.unary(UnaryFn.COS, g.matmul(positions, frequencies)));
            });
            Compiler compiler = new Compiler(CompilerOptions.defaults(), node -> false, new HalfStore(DType.F16));
            Map<String, NdArray> inputs = Map.of(
                    "positions",
                    NdArray.of(TensorType.of(DType.F32, 3, 1), 7.0, 1025, 4099),
                    "frequencies",
                    NdArray.of(TensorType.of(DType.F32, 1, 2), 1.0, 0.1));
            Map<String, TensorType> types = new HashMap<>();
            inputs.forEach((name, values) -> types.put(name, values.type()));
            Graph planned = compiler.plan(compiler.prepare(graph, Map.of()), types, Map.of())
                    .plan()
                    .graph();
            assertThat(Interpreter.run(planned, inputs).get("y").toDoubles())
                    .as("%s", summed)
                    .containsExactly(Interpreter.run(graph, inputs).get("y").toDoubles(), within(1e-6));
        }
    }

    private static boolean multipliesShortMask(Node node) {
        return node.op() instanceof Binary(BinaryFn fn)
                && fn == BinaryFn.MUL
                && node.output().dtype() != DType.F32;
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F32", "F64", "I8", "F8E4M3"})
    void refusesOtherTypes(DType dtype) {
        assertThatThrownBy(() -> new HalfStore(dtype))
                .isInstanceOf(DTypeException.class)
                .hasMessageContaining(dtype.toString());
    }
}
