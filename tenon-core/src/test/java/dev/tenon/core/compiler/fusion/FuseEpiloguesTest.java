package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.testkit.Seeded;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class FuseEpiloguesTest {
    private static final List<Long> ONES = List.of(1L, 1L);
    private static final TensorType IMAGES = TensorType.of(DType.F32, 2, 4, 5, 6);
    private static final PassContext NOTHING = new PassContext(PassContext.CLAIMS_NOTHING, null);

    private static Graph fused(Graph graph) {
        return new DeadCode().apply(new FuseEpilogues().apply(graph, NOTHING), NOTHING);
    }

    private static Value conv(GraphBuilder g, Seeded random, Value x) {
        Value w = g.constant(random.array(DType.F32, 4, 4, 3, 3).toConstant());
        return g.add(new Conv(ONES, ONES, ONES, ONES, 1, Epilogue.NONE), x, w);
    }

    private static Value bias(GraphBuilder g, Seeded random) {
        return g.constant(random.array(DType.F32, 4, 1, 1).toConstant());
    }

    @Test
    void activationBehindAResidualJoinsTheConvolution() {
        Seeded random = new Seeded(1);
        Graph graph = GraphBuilder.build("block", g -> {
            Value x = g.input("x", IMAGES);
            Value y = g.add(new Binary(BinaryFn.ADD), conv(g, random, x), bias(g, random));
            g.output("y", g.unary(UnaryFn.RELU, g.add(new Binary(BinaryFn.ADD), y, x)));
        });
        assertThat(graph.nodes()).hasSize(4);
        Graph after = fused(graph);
        assertThat(after.toString())
                .contains("epilogue=(bias=true, activation=(fn=relu), residual=true, residual_first=true)")
                .doesNotContain("= unary", "= binary");
    }

    @Test
    void residualBehindAnActivationStaysBehindIt() {
        Seeded random = new Seeded(1);
        Graph graph = GraphBuilder.build("block", g -> {
            Value x = g.input("x", IMAGES);
            Value y = g.unary(UnaryFn.RELU, conv(g, random, x));
            g.output("y", g.unary(UnaryFn.TANH, g.add(new Binary(BinaryFn.ADD), y, x)));
        });
        assertThat(fused(graph).toString())
                .contains("epilogue=(activation=(fn=relu), residual=true)", "unary(fn=tanh)");
    }

    @Test
    void productsLeaveAnActivationBehindAResidual() {
        Seeded random = new Seeded(1);
        Graph graph = GraphBuilder.build("product", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 3, 4));
            Value w = g.constant(random.array(DType.F32, 4, 4).toConstant());
            Value y = g.add(new Binary(BinaryFn.ADD), g.add(MatMul.plain(), x, w), x);
            g.output("y", g.unary(UnaryFn.RELU, y));
        });
        assertThat(fused(graph).toString()).contains("mat_mul(epilogue=(residual=true))", "unary(fn=relu)");
        Epilogue last = Epilogue.NONE.withResidual().withActivation(Unary.of(UnaryFn.RELU));
        assertThatThrownBy(() -> new MatMul(false, false, last))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("residual");
    }

    @Test
    void drawnChainsKeepTheirResults() {
        for (int seed = 0; seed < 200; seed++) {
            Graph graph = drawn(seed);
            Map<String, NdArray> inputs = Map.of("x", new Seeded(seed).array(DType.F32, 2, 4, 5, 6));
            Tolerance.of(DType.F32, 100)
                    .check(
                            "seed " + seed,
                            Interpreter.run(graph, inputs).get("y"),
                            Interpreter.run(fused(graph), inputs).get("y"));
        }
    }

    /** Convolutions with biases, activations and residuals behind them, in any order. */
    private static Graph drawn(int seed) {
        Random draw = new Random(seed * 0x9E3779B97F4A7C15L);
        Seeded random = new Seeded(seed);
        return GraphBuilder.build("drawn", g -> {
            Value x = g.input("x", IMAGES);
            Value y = conv(g, random, x);
            for (int i = 0; i < 6; i++) {
                y = switch (draw.nextInt(5)) {
                    case 0 -> g.add(new Binary(BinaryFn.ADD), y, bias(g, random));
                    case 1 -> g.add(new Binary(BinaryFn.ADD), x, y);
                    case 2 -> g.unary(UnaryFn.RELU, y);
                    case 3 -> g.unary(UnaryFn.TANH, y);
                    default -> conv(g, random, g.unary(UnaryFn.SIGMOID, y));
                };
            }
            g.output("y", y);
        });
    }
}
