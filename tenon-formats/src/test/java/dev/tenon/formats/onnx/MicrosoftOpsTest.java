package dev.tenon.formats.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** ONNX Runtime's operators against their definitions in float64. */
class MicrosoftOpsTest {
    private static final Offset<Double> NEAR = Offset.offset(2e-6);
    private static final int F32 = 1;
    private static final int I32 = 6;
    private static final int BATCH = 2;
    private static final int TOKENS = 3;
    private static final int HIDDEN = 5;

    private final Map<String, NdArray> given = new LinkedHashMap<>();
    private final Random random = new Random(5);

    private static OnnxModel model(UnaryOperator<Wire> graph) {
        return OnnxModel.parse(
                "model",
                Wire.model(
                        graph,
                        m -> m.message(8, o -> o.string(1, "com.microsoft").number(2, 1))));
    }

    private static UnaryOperator<Wire> epsilon(double epsilon) {
        return n -> n.string(7, "com.microsoft")
                .message(5, a -> a.string(1, "epsilon").number(20, 1).float32(2, (float) epsilon));
    }

    private NdArray random(String name, long... sizes) {
        NdArray array = NdArray.zeros(DType.F32, sizes);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, (float) random.nextDouble(-2, 2));
        }
        given.put(name, array);
        return array;
    }

    private NdArray integers(String name, int bound, long... sizes) {
        NdArray array = NdArray.zeros(DType.I32, sizes);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, random.nextInt(bound));
        }
        given.put(name, array);
        return array;
    }

    private Wire inputs(Wire graph) {
        given.forEach((name, array) -> graph.inputOf(
                array.dtype() == DType.I32 ? I32 : F32, name, array.shape().sizes()));
        return graph;
    }

    private Map<String, NdArray> run(OnnxModel model) {
        return Interpreter.run(model.graph(), given);
    }

    private static double[] row(double[] values, int row) {
        return Arrays.copyOfRange(values, row * HIDDEN, (row + 1) * HIDDEN);
    }

    /** (x - mean) / sqrt(mean((x - mean)^2) + epsilon) · gamma + beta, or without the mean. */
    private static double[] norm(double[] x, boolean centred, double epsilon, double[] gamma, double[] beta) {
        double mean = centred ? Arrays.stream(x).average().orElseThrow() : 0;
        double square =
                Arrays.stream(x).map(v -> (v - mean) * (v - mean)).average().orElseThrow();
        double[] y = new double[x.length];
        Arrays.setAll(y, i -> (x[i] - mean) / Math.sqrt(square + epsilon) * gamma[i] + beta[i]);
        return y;
    }

    @ParameterizedTest
    @CsvSource({
        "true, '2,3,5', true, true",
        "true, '2,3,5', true, false",
        "true, '2,3,5', false, false",
        "true, '1,3,5', true, true",
        "true, '3,5', false, true",
        "false, '2,3,5', false, true",
        "false, '2,3,5', false, false",
        "false, '1,3,5', false, true"
    })
    void skipNorms(boolean centred, String skipSizes, boolean withBeta, boolean withBias) {
        double[] x = random("x", BATCH, TOKENS, HIDDEN).toDoubles();
        double[] skip = random("skip", longs(skipSizes)).toDoubles();
        double[] gamma = random("gamma", HIDDEN).toDoubles();
        double[] beta = withBeta ? random("beta", HIDDEN).toDoubles() : new double[HIDDEN];
        double[] bias = withBias ? random("bias", HIDDEN).toDoubles() : new double[HIDDEN];
        String operands = "x skip gamma" + (centred ? withBeta ? " beta" : " -" : "") + (withBias ? " bias" : "");
        String op = centred ? "SkipLayerNormalization" : "SkipSimplifiedLayerNormalization";
        OnnxModel model = model(g -> inputs(g)
                .output("y", 1)
                .output("mean", 1)
                .output("root", 1)
                .output("sum", 1)
                .node(op, "n", operands, "y mean root sum", epsilon(0.01)));
        Map<String, NdArray> results = run(model);
        double[] sum = new double[x.length];
        Arrays.setAll(sum, i -> x[i] + skip[i % skip.length] + bias[i % HIDDEN]);
        assertThat(results.get("sum").toDoubles()).containsExactly(sum, NEAR);
        assertThat(results.get("y").shape()).isEqualTo(Shape.of(BATCH, TOKENS, HIDDEN));
        assertThat(results.get("mean").shape()).isEqualTo(Shape.of(BATCH, TOKENS, 1));
        for (int r = 0; r < BATCH * TOKENS; r++) {
            double[] values = row(sum, r);
            double mean = Arrays.stream(values).average().orElseThrow();
            double middle = centred ? mean : 0;
            double square = Arrays.stream(values)
                    .map(v -> (v - middle) * (v - middle))
                    .average()
                    .orElseThrow();
            assertThat(row(results.get("y").toDoubles(), r))
                    .containsExactly(norm(values, centred, 0.01f, gamma, beta), NEAR);
            assertThat(results.get("mean").get(r)).isCloseTo(mean, NEAR);
            assertThat(results.get("root").get(r)).isCloseTo(1 / Math.sqrt(square + 0.01f), NEAR);
        }
    }

    @Test
    void skipNormsOfTokensWithoutABatch() {
        double[] x = random("x", TOKENS, HIDDEN).toDoubles();
        double[] skip = random("skip", TOKENS, HIDDEN).toDoubles();
        double[] gamma = random("gamma", HIDDEN).toDoubles();
        OnnxModel model = model(g -> inputs(g)
                .output("y", 1)
                .node("SkipSimplifiedLayerNormalization", "n", "x skip gamma", "y", n -> n.string(7, "com.microsoft")));
        double[] y = run(model).get("y").toDoubles();
        for (int r = 0; r < TOKENS; r++) {
            double[] sum = new double[HIDDEN];
            int at = r * HIDDEN;
            Arrays.setAll(sum, i -> x[at + i] + skip[at + i]);
            assertThat(row(y, r)).containsExactly(norm(sum, false, 1e-12, gamma, new double[HIDDEN]), NEAR);
        }
    }

    @Test
    void aConstantRowWithoutEpsilonIsTheBias() {
        given.put("x", NdArray.zeros(DType.F32, 1, 1, HIDDEN));
        given.put("skip", NdArray.of(TensorType.of(DType.F32, 1, 1, HIDDEN), 7, 7, 7, 7, 7));
        random("gamma", HIDDEN);
        double[] beta = random("beta", HIDDEN).toDoubles();
        OnnxModel model = model(g -> inputs(g)
                .output("y", 1)
                .node("SkipLayerNormalization", "n", "x skip gamma beta", "y", n -> n.string(7, "com.microsoft")));
        assertThat(run(model).get("y").toDoubles()).containsExactly(beta);
    }

    @Test
    void aSkipThatDoesNotFitIsRefused() {
        random("x", 1, TOKENS, HIDDEN);
        random("skip", BATCH, TOKENS, HIDDEN);
        random("gamma", HIDDEN);
        assertThatThrownBy(() -> model(g -> inputs(g)
                        .output("y", 1)
                        .node("SkipSimplifiedLayerNormalization", "n", "x skip gamma", "y", epsilon(0))))
                .isInstanceOf(ImportException.class)
                .hasMessageContainingAll(
                        "node \"n\": operator com.microsoft.SkipSimplifiedLayerNormalization (opset 1)",
                        "skip f32[2,3,5]",
                        "the input, f32[1,3,5]");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void embeddings(int form) {
        boolean segments = (form & 1) != 0;
        boolean mask = (form & 2) != 0;
        boolean positions = (form & 4) != 0;
        NdArray ids = integers("ids", 7, BATCH, TOKENS);
        NdArray kinds = segments ? integers("kinds", 2, BATCH, TOKENS) : null;
        double[] words = random("words", 7, HIDDEN).toDoubles();
        double[] places = random("places", 9, HIDDEN).toDoubles();
        double[] types = segments ? random("types", 2, HIDDEN).toDoubles() : new double[HIDDEN];
        double[] gamma = random("gamma", HIDDEN).toDoubles();
        double[] beta = random("beta", HIDDEN).toDoubles();
        if (mask) {
            given.put("mask", NdArray.of(TensorType.of(DType.I32, BATCH, TOKENS), 1L, 1, 0, 0, 0, 1));
        }
        NdArray at = positions ? integers("at", 9, 1, TOKENS) : null;
        String operands = "ids " + (segments ? "kinds" : "-") + " words places " + (segments ? "types" : "-")
                + " gamma beta" + (mask ? " mask" : positions ? " -" : "") + (positions ? " at" : "");
        OnnxModel model = model(g -> inputs(g)
                .output("y", 1)
                .output("ones", 1, I32)
                .output("sum", 1)
                .node("EmbedLayerNormalization", "n", operands, "y ones sum", epsilon(0.01)));
        Map<String, NdArray> results = run(model);
        assertThat(results.get("y").shape()).isEqualTo(Shape.of(BATCH, TOKENS, HIDDEN));
        for (int r = 0; r < BATCH * TOKENS; r++) {
            int word = (int) ids.getLong(r);
            int kind = kinds == null ? 0 : (int) kinds.getLong(r);
            int place = at == null ? r % TOKENS : (int) at.getLong(r % TOKENS);
            double[] sum = new double[HIDDEN];
            Arrays.setAll(sum, i -> row(words, word)[i] + row(places, place)[i] + row(types, kind)[i]);
            assertThat(row(results.get("sum").toDoubles(), r)).containsExactly(sum, NEAR);
            assertThat(row(results.get("y").toDoubles(), r)).containsExactly(norm(sum, true, 0.01f, gamma, beta), NEAR);
        }
        assertThat(results.get("ones").dtype()).isEqualTo(DType.I32);
        assertThat(results.get("ones").toLongs()).containsExactly(mask ? new long[] {2, 1} : new long[] {0, 0});
    }

    @Test
    void segmentsWithoutTheirEmbeddingAreRefused() {
        integers("ids", 2, BATCH, TOKENS);
        random("words", 2, HIDDEN);
        random("gamma", HIDDEN);
        assertThatThrownBy(() -> model(g -> inputs(g)
                        .output("y", 1)
                        .node("EmbedLayerNormalization", "n", "ids ids words words - gamma gamma", "y", epsilon(0))))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("segment_ids and segment_embedding");
    }

    @ParameterizedTest
    @CsvSource({"Gelu, false", "BiasGelu, true", "FastGelu, false", "FastGelu, true", "QuickGelu, false"})
    void gelus(String op, boolean biased) {
        double[] x = random("x", BATCH, HIDDEN).toDoubles();
        double[] bias = biased ? random("bias", HIDDEN).toDoubles() : new double[HIDDEN];
        OnnxModel model = model(g -> inputs(g)
                .output("y", 1)
                .node(op, "n", biased ? "x bias" : "x", "y", n -> n.string(7, "com.microsoft")));
        DoubleUnaryOperator fn = switch (op) {
            case "FastGelu" -> v -> 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v * v * v)));
            case "QuickGelu" -> v -> v / (1 + Math.exp(-1.702 * v));
            default -> v -> v * normal(v);
        };
        double[] expected = new double[x.length];
        Arrays.setAll(expected, i -> fn.applyAsDouble(x[i] + bias[i % HIDDEN]));
        assertThat(run(model).get("y").toDoubles()).containsExactly(expected, NEAR);
    }

    /** The normal distribution's share below v: 1/2 and Simpson's rule over its density. */
    private static double normal(double v) {
        int steps = 2000;
        double h = v / steps;
        double sum = 0;
        for (int i = 0; i <= steps; i++) {
            double weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
            sum += weight * Math.exp(-i * h * i * h / 2);
        }
        return 0.5 + sum * h / 3 / Math.sqrt(2 * Math.PI);
    }

    @Test
    void anotherDomainHasOthers() {
        random("x", 2);
        assertThatThrownBy(() -> model(g ->
                        inputs(g).output("y", 1).node("Softmax", "n", "x", "y", n -> n.string(7, "com.microsoft"))))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("operator com.microsoft.Softmax (opset 1) is not supported; "
                        + "the ONNX domain has an operator of that name, so check the node's domain");
        assertThatThrownBy(() -> model(g -> inputs(g).output("y", 1).node("QuickGelu", "n", "x", "y")))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("the domain com.microsoft has an operator of that name");
    }

    private static long[] longs(String list) {
        return Arrays.stream(list.split(",")).mapToLong(Long::parseLong).toArray();
    }
}
