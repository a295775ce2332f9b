package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.DequantizedWeight;
import dev.tenon.core.testkit.DequantizedProducts;
import dev.tenon.core.testkit.Seeded;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class FuseScaledProductsTest {
    static List<DequantizedProducts> forms() {
        return DequantizedProducts.all();
    }

    private static Graph prepared(Graph graph) {
        return new Compiler(CompilerOptions.defaults(), _ -> false)
                .prepare(graph, Map.of())
                .serving(Map.of());
    }

    private static Node product(Graph graph) {
        return graph.nodes().stream()
                .filter(node -> node.op() instanceof MatMul)
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @MethodSource("forms")
    void constantWeightStaysPacked(DequantizedProducts form) {
        Graph graph = form.graph();
        Graph fused = prepared(graph);
        assertThat(fused.nodes()).as("%s", fused).hasSize(1);
        assertThat(fused.nodes().getFirst().op()).isEqualTo(form.expected());
        NdArray x = form.x();
        NdArray expected = Interpreter.run(graph, Map.of("x", x)).get("y");
        NdArray actual = Interpreter.run(fused, Map.of("x", x)).get("y");
        Tolerance.of(form.dtype(), DequantizedProducts.DEPTH).check(form.toString(), expected, actual);
    }

    @Test
    void biasAndActivationFollowTheProduct() {
        Seeded random = new Seeded(3);
        Graph graph = GraphBuilder.build("layer", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 3, 520));
            NdArray q = random.integers(DType.I8, -128, 127, 520, 130);
            Value w = g.add(
                            "",
                            new Dequantize(1, 0, false),
                            List.of(
                                    g.constant(q.toConstant()),
                                    g.constant(random.floats(DType.F32, 0.0625, 0.125, 130)
                                            .toConstant())))
                    .getFirst();
            Value y = g.add("", MatMul.plain(), List.of(x, w)).getFirst();
            g.output(
                    "y", g.relu(g.add(y, g.constant(random.array(DType.F32, 130).toConstant()))));
        });
        Graph fused = prepared(graph);
        assertThat(fused.nodes().getFirst().op()).isEqualTo(new ScaledMatMul(0, false));
        Map<String, NdArray> inputs = Map.of("x", random.floats(DType.F32, -1, 1, 2, 3, 520));
        Tolerance.of(DType.F32, 520)
                .check(
                        "layer",
                        Interpreter.run(graph, inputs).get("y"),
                        Interpreter.run(fused, inputs).get("y"));
    }

    @Test
    void scalesAlongTheSummedIndexKeepTheProductAndSayWhy() {
        Graph kept = prepared(product(0, 0, true, DType.I8));
        assertThat(DequantizedWeight.refusal(product(kept)))
                .isEqualTo("scales change with the summed index; it takes one for each column or for"
                        + " each block of it");
    }

    @Test
    void blocksAlongTheColumnsKeepTheProductAndSayWhy() {
        Graph kept = prepared(product(1, 65, true, DType.I8));
        assertThat(DequantizedWeight.refusal(product(kept))).contains("scales change along the columns");
    }

    @Test
    void wideIntegersKeepTheProductAndSayWhy() {
        Graph kept = prepared(product(1, 0, true, DType.I16));
        assertThat(DequantizedWeight.refusal(product(kept))).isEqualTo("the weight is i16; it takes i8, u8, i4 and u4");
    }

    @Test
    void computedWeightKeepsTheProductAndSaysWhy() {
        Graph kept = prepared(product(1, 0, false, DType.I8));
        assertThat(DequantizedWeight.refusal(product(kept))).contains("is computed; it takes constants");
    }

    /** A product of [2,520] and a weight [520,130] that keeps its form. */
    private static Graph product(int axis, long block, boolean constant, DType q) {
        Seeded random = new Seeded(5);
        return GraphBuilder.build("product", g -> {
            NdArray values = random.integers(q, -100, 100, 520, 130);
            Value weight = constant ? g.constant(values.toConstant()) : g.input("w", TensorType.of(q, 520, 130));
            NdArray scale = block > 0
                    ? random.floats(DType.F32, 0.0625, 0.125, 520, 2)
                    : random.floats(DType.F32, 0.0625, 0.125, axis == 0 ? 520 : 130);
            Value w = g.add("", new Dequantize(axis, block, false), List.of(weight, g.constant(scale.toConstant())))
                    .getFirst();
            MatMul op = new MatMul(false, false, Epilogue.NONE);
            Value x = g.input("x", TensorType.of(DType.F32, 2, 520));
            g.output("y", g.add("", op, List.of(x, w)).getFirst());
        });
    }
}
