package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.normalisation.BatchNorm;
import dev.tenon.core.testkit.Seeded;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FoldBatchNormsTest {
    private static final List<Long> ONES = List.of(1L, 1L);

    /** Bit 0: a bias; bit 1: transposed; bit 2: another use of the convolution. */
    private static Graph normed(int form, double variance) {
        Seeded random = new Seeded(form);
        return GraphBuilder.build("normed", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 4, 5, 6));
            boolean transposed = (form & 2) != 0;
            Epilogue epilogue = (form & 1) != 0 ? Epilogue.NONE.withBias() : Epilogue.NONE;
            Op conv = transposed
                    ? new ConvTranspose(ONES, ONES, ONES, ONES, List.of(0L, 0L), 2, epilogue)
                    : new Conv(ONES, ONES, ONES, ONES, 2, epilogue);
            NdArray w = transposed ? random.array(DType.F32, 4, 3, 3, 3) : random.array(DType.F32, 6, 2, 3, 3);
            List<Value> operands = new ArrayList<>(List.of(x, g.constant(w.toConstant())));
            if (epilogue.bias()) {
                operands.add(g.constant(random.array(DType.F32, 6).toConstant()));
            }
            Value y = g.add("", conv, operands).getFirst();
            NdArray variances = random.floats(DType.F32, 0.5, 2, 6);
            variances.set(1, variance);
            List<Value> norm = List.of(
                    y,
                    g.constant(random.array(DType.F32, 6).toConstant()),
                    g.constant(random.array(DType.F32, 6).toConstant()),
                    g.constant(random.array(DType.F32, 6).toConstant()),
                    g.constant(variances.toConstant()));
            g.output("y", g.add("", new BatchNorm(1e-5), norm).getFirst());
            if ((form & 4) != 0) {
                g.output("before", y);
            }
        });
    }

    private static Graph prepared(Graph graph) {
        return new Compiler(CompilerOptions.defaults(), _ -> false)
                .prepare(graph, Map.of())
                .serving(Map.of());
    }

    private static boolean hasNorm(Graph graph) {
        return graph.nodes().stream().anyMatch(node -> node.op() instanceof BatchNorm);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void normGoesIntoWeightsAndBias(int form) {
        Graph graph = normed(form, 1);
        Graph folded = prepared(graph);
        assertThat(folded.nodes()).as("%s", folded).hasSize(1);
        Map<String, NdArray> inputs = Map.of("x", new Seeded(form + 9).array(DType.F32, 2, 4, 5, 6));
        NdArray expected = Interpreter.run(graph, inputs).get("y");
        Tolerance.of(DType.F32, 18)
                .check("folded", expected, Interpreter.run(folded, inputs).get("y"));
    }

    @Test
    void convolutionThatIsUsedElsewhereKeepsItsNorm() {
        assertThat(hasNorm(prepared(normed(4, 1)))).isTrue();
    }

    @Test
    void factorThatIsNotFiniteKeepsItsNorm() {
        assertThat(hasNorm(prepared(normed(0, -1)))).isTrue();
    }

    @Test
    void weightsAndBiasesThatWouldBeInfiniteKeepTheirNorm() {
        assertThat(hasNorm(prepared(halves(1000, 1, 1000)))).isTrue();
        assertThat(hasNorm(prepared(halves(1, 1000, 1000)))).isTrue();
        assertThat(hasNorm(prepared(halves(1, 1, 1000)))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.MAX_VALUE})
    void weightsThatAreNotFiniteOrWouldNotBeKeepTheirNorm(float weight) {
        assertThat(hasNorm(prepared(weighted(weight, false)))).isTrue();
        assertThat(hasNorm(prepared(weighted(weight, true)))).isTrue();
        assertThat(hasNorm(prepared(weighted(1, false)))).isFalse();
        assertThat(hasNorm(prepared(weighted(1, true)))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void weightsThatAreAllAlikeAreScaledLikeOthers(boolean splat) {
        Graph graph = weighted(3, splat);
        Map<String, NdArray> inputs = Map.of("x", new Seeded(2).array(DType.F32, 1, 2, 3, 3));
        NdArray expected = Interpreter.run(graph, inputs).get("y");
        NdArray actual = Interpreter.run(prepared(graph), inputs).get("y");
        Tolerance.of(DType.F32, 18).check("folded", expected, actual);
    }

    /** Two channels to two in f32 with factors of 2 and 0.5, and one weight of that value, or all. */
    private static Graph weighted(float weight, boolean splat) {
        return GraphBuilder.build("weighted", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 1, 2, 3, 3));
            TensorType type = TensorType.of(DType.F32, 2, 2, 3, 3);
            NdArray some = new Seeded(3).array(DType.F32, 2, 2, 3, 3);
            some.set(7, weight);
            Value w = g.constant(
                    splat ? new ConstantData.Splat(type, Float.floatToRawIntBits(weight)) : some.toConstant());
            List<Value> norm =
                    new ArrayList<>(g.add("", new Conv(ONES, ONES, ONES, ONES, 1, Epilogue.NONE), List.of(x, w)));
            TensorType channels = TensorType.of(DType.F32, 2);
            for (double[] numbers : new double[][] {{2, 0.5}, {0, 1}, {1, 0}, {1, 1}}) {
                norm.add(g.constant(NdArray.of(channels, numbers).toConstant()));
            }
            g.output("y", g.add("", new BatchNorm(0), norm).getFirst());
        });
    }

    /** One channel in f16, of that weight, mean and factor. */
    private static Graph halves(double weight, double mean, double factor) {
        return GraphBuilder.build("halves", g -> {
            Value x = g.input("x", TensorType.of(DType.F16, 1, 1, 2, 2));
            Value w = g.constant(
                    NdArray.of(TensorType.of(DType.F16, 1, 1, 1, 1), weight).toConstant());
            Op conv = new Conv(ONES, List.of(0L, 0L), List.of(0L, 0L), ONES, 1, Epilogue.NONE);
            List<Value> norm = new ArrayList<>(g.add("", conv, List.of(x, w)));
            for (double number : new double[] {factor, 0, mean, 1}) {
                norm.add(g.constant(
                        NdArray.of(TensorType.of(DType.F16, 1), number).toConstant()));
            }
            g.output("y", g.add("", new BatchNorm(1e-5), norm).getFirst());
        });
    }
}
