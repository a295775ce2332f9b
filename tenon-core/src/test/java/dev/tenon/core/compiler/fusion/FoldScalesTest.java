package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.HalfStore;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.testkit.Seeded;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FoldScalesTest {
    private static final List<Long> ONES = List.of(1L, 1L);

    /** Bit 0: the weight transposed; bit 1: the bias in the product; bit 2: to channels first before the scale. */
    private static Graph scaledProduct(int form, NdArray scale, boolean usedTwice) {
        Seeded random = new Seeded(form);
        return GraphBuilder.build("scaled", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 4, 3, 8));
            boolean transposed = (form & 1) != 0;
            Value w = g.constant(
                    (transposed ? random.array(DType.F32, 6, 8) : random.array(DType.F32, 8, 6)).toConstant());
            Value b = g.constant(random.array(DType.F32, 6).toConstant());
            boolean within = (form & 2) != 0;
            MatMul op = new MatMul(false, transposed, within ? Epilogue.NONE.withBias() : Epilogue.NONE);
            Value y = g.add("", op, within ? List.of(x, w, b) : List.of(x, w)).getFirst();
            if (!within) {
                y = g.add("", new Binary(BinaryFn.ADD), List.of(b, y)).getFirst();
            }
            boolean first = (form & 4) != 0;
            if (first) {
                y = g.add("", new Transpose(List.of(0, 3, 1, 2)), List.of(y)).getFirst();
            }
            NdArray factors = first ? NdArray.of(TensorType.of(DType.F32, 6, 1, 1), scale.toDoubles()) : scale;
            Value factor = g.constant(factors.toConstant());
            g.output(
                    "y", g.add("", new Binary(BinaryFn.MUL), List.of(factor, y)).getFirst());
            if (usedTwice) {
                g.output("before", y);
            }
        });
    }

    private static Graph folded(Graph graph, @Nullable HalfStore half) {
        PassContext context = new PassContext(PassContext.CLAIMS_NOTHING, half);
        return new DeadCode().apply(new FoldScales().apply(graph, context), context);
    }

    private static long products(Graph graph) {
        return graph.nodes().stream()
                .filter(node -> node.op() instanceof Binary(BinaryFn fn) && fn == BinaryFn.MUL)
                .count();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void scaleGoesIntoWeightsAndBias(int form) {
        Graph graph = scaledProduct(form, new Seeded(5).array(DType.F32, 6), false);
        Graph folded = folded(graph, new HalfStore(DType.F16));
        assertThat(products(folded)).as("%s", folded).isZero();
        assertThat(folded.nodes()).hasSize(graph.nodes().size() - 1);
        Map<String, NdArray> inputs = Map.of("x", new Seeded(form + 9).array(DType.F32, 2, 4, 3, 8));
        Tolerance.of(DType.F32, 8)
                .check(
                        "y",
                        Interpreter.run(graph, inputs).get("y"),
                        Interpreter.run(folded, inputs).get("y"));
    }

    @Test
    void scaleOfChannelsGoesIntoConvolution() {
        Seeded random = new Seeded(3);
        Graph graph = GraphBuilder.build("conv", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 1, 4, 5, 6));
            Value w = g.constant(random.array(DType.F32, 6, 2, 3, 3).toConstant());
            Value y = g.add("", new Conv(ONES, ONES, ONES, ONES, 2, Epilogue.NONE), List.of(x, w))
                    .getFirst();
            Value s = g.constant(random.array(DType.F32, 1, 6, 1, 1).toConstant());
            g.output("y", g.add("", new Binary(BinaryFn.MUL), List.of(y, s)).getFirst());
        });
        Graph folded = folded(graph, null);
        assertThat(folded.nodes()).hasSize(1);
        Map<String, NdArray> inputs = Map.of("x", random.array(DType.F32, 1, 4, 5, 6));
        Tolerance.of(DType.F32, 18)
                .check(
                        "y",
                        Interpreter.run(graph, inputs).get("y"),
                        Interpreter.run(folded, inputs).get("y"));
    }

    @Test
    void scaleStaysWhereItWouldTellOrCostDigits() {
        NdArray plain = new Seeded(5).array(DType.F32, 6);
        assertThat(products(folded(scaledProduct(6, plain, true), null))).isEqualTo(1); // another use
        for (double factor : new double[] {Double.POSITIVE_INFINITY, Double.NaN}) {
            NdArray scale = new Seeded(5).array(DType.F32, 6);
            scale.set(4, factor);
            assertThat(products(folded(scaledProduct(6, scale, false), null))).isEqualTo(1);
        }
        NdArray tiny = NdArray.of(TensorType.of(DType.F32, 6), 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6);
        Graph graph = scaledProduct(6, tiny, false);
        assertThat(products(folded(graph, new HalfStore(DType.F16)))).isEqualTo(1);
        assertThat(products(folded(graph, new HalfStore(DType.BF16)))).isZero();
        assertThat(products(folded(graph, null))).isZero();
    }

    @Test
    void scaleStaysWhereProductsWouldBeTooLarge() {
        NdArray large = new Seeded(5).array(DType.F32, 6);
        large.set(3, 3e38);
        for (int form = 0; form < 8; form++) {
            assertThat(products(folded(scaledProduct(form, large, false), null)))
                    .as("form %d", form)
                    .isEqualTo(1);
        }
    }
}
