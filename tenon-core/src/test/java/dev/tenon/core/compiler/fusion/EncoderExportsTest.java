package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The steps of one layer of encoders, in the node patterns of exports by PyTorch and by optimum: seven steps, five where
 * products norm their rows, or four where q, k and v stay where they are made, whatever way scores are scaled and masked
 * and norms are written.
 */
class EncoderExportsTest {
    private static final int BATCH = 2;
    private static final int TOKENS = 5;
    private static final int HEADS = 3;
    private static final int HEAD = 4;
    private static final int HIDDEN = HEADS * HEAD;
    private static final int INNER = 24;

    /** Where an export scales its scores. */
    private enum Scale {
        /** {@code (q k^T) / sqrt(d)}. */
        DIVIDED,
        /** {@code (q / sqrt(d)) k^T}. */
        QUERIES,
        /** {@code (q sqrt(s)) (k^T sqrt(s))}, as scaled_dot_product_attention is exported. */
        BOTH
    }

    /** Exports of one architecture, in one way. */
    private enum Export {
        BERT(Scale.DIVIDED, false, false, DType.F32),
        BERT_F16(Scale.DIVIDED, false, false, DType.F16),
        MINILM_DECOMPOSED_NORMS(Scale.DIVIDED, true, false, DType.F32),
        BGE_SDPA(Scale.BOTH, false, false, DType.F32),
        E5_SDPA_F16(Scale.BOTH, false, false, DType.F16),
        ROBERTA_DECOMPOSED_NORMS(Scale.DIVIDED, true, false, DType.F32),
        XLM_R_SDPA_DECOMPOSED_NORMS(Scale.BOTH, true, false, DType.F32),
        MPNET_RELATIVE_BIAS(Scale.DIVIDED, false, true, DType.F32),
        MPNET_RELATIVE_BIAS_F16(Scale.DIVIDED, false, true, DType.F16),
        DISTILBERT_SDPA(Scale.BOTH, false, false, DType.F32),
        DISTILBERT_SCALED_QUERIES(Scale.QUERIES, true, false, DType.F32);

        private final Scale scale;
        private final boolean decomposedNorms;
        private final boolean relativeBias;
        private final DType dtype;

        Export(Scale scale, boolean decomposedNorms, boolean relativeBias, DType dtype) {
            this.scale = scale;
            this.decomposedNorms = decomposedNorms;
            this.relativeBias = relativeBias;
            this.dtype = dtype;
        }
    }

    @ParameterizedTest
    @EnumSource
    void layerIsSevenSteps(Export export) {
        assertThat(layer(export, skip("fuse-normed-products", "fuse-projected-attention")))
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "mat_mul bias", 1,
                        "plain_attention packed", 1,
                        "mat_mul bias residual", 2,
                        "mat_mul bias gelu", 1,
                        "layer_norm", 2));
    }

    @ParameterizedTest
    @EnumSource
    void layerIsFiveStepsWhereProductsNormTheirRows(Export export) {
        assertThat(layer(export, skip("fuse-projected-attention")))
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "mat_mul bias", 1,
                        "plain_attention packed", 1,
                        "mat_mul bias gelu", 1,
                        "normed_mat_mul", 2));
    }

    @ParameterizedTest
    @EnumSource
    void layerIsFourStepsWhereHeadsStayWhereTheyAreMade(Export export) {
        assertThat(layer(export, CompilerOptions.defaults()))
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of("projected_attention", 1, "mat_mul bias gelu", 1, "normed_mat_mul", 2));
    }

    private static CompilerOptions skip(String... passes) {
        return CompilerOptions.defaults().withSkip(Set.of(passes));
    }

    /** What a second layer adds. */
    private static Map<String, Integer> layer(Export export, CompilerOptions options) {
        Map<String, Integer> one = steps(graph(export, 1), options);
        Map<String, Integer> layer = steps(graph(export, 2), options);
        one.forEach((step, count) -> layer.merge(step, -count, Integer::sum));
        layer.values().removeIf(count -> count == 0);
        return layer;
    }

    @ParameterizedTest
    @EnumSource
    void resultsStayThose(Export export) {
        Graph graph = graph(export, 2);
        Seeded random = new Seeded(export.ordinal());
        Map<String, NdArray> inputs = new HashMap<>();
        graph.inputs()
                .forEach(input -> inputs.put(
                        input.name(), random.array(input.dtype(), input.shape().sizes())));
        double[] expected = Interpreter.run(graph, inputs).get("y").toDoubles();
        double[] actual = Interpreter.run(Planned.graph(graph, node -> true), inputs)
                .get("y")
                .toDoubles();
        assertThat(actual).containsExactly(expected, within(export.dtype == DType.F16 ? 3e-2 : 2e-5));
    }

    private static Map<String, Integer> steps(Graph graph, CompilerOptions options) {
        Map<String, Integer> steps = new TreeMap<>();
        for (Node node :
                Planned.plan(graph, new Compiler(options, node -> true)).work()) {
            steps.merge(step(node), 1, Integer::sum);
        }
        return steps;
    }

    private static String step(Node node) {
        List<String> words = new ArrayList<>(List.of(node.op().mnemonic()));
        if (node.op() instanceof MatMul op) {
            Epilogue epilogue = op.epilogue();
            if (epilogue.bias()) {
                words.add("bias");
            }
            if (epilogue.activation() != null) {
                words.add(epilogue.activation().fn().word());
            }
            if (epilogue.residual()) {
                words.add("residual");
            }
        }
        if (node.op() instanceof PlainAttention op && op.packed()) {
            words.add("packed");
        }
        return String.join(" ", words);
    }

    private static Graph graph(Export export, int layers) {
        return GraphBuilder.build("encoder", g -> new Writer(g, export).write(layers));
    }

    /** Writes an export. */
    private static final class Writer {
        private final GraphBuilder g;
        private final Export export;
        private final Random random = new Random(3);

        Writer(GraphBuilder g, Export export) {
            this.g = g;
            this.export = export;
        }

        void write(int layers) {
            Value x = g.input("x", TensorType.of(export.dtype, BATCH, TOKENS, HIDDEN));
            // (1 - mask) * lowest, as exports have it
            Value seen = g.input("mask", TensorType.of(export.dtype, BATCH, 1, 1, TOKENS));
            Value mask = g.mul(g.add(g.neg(seen), 1), -100);
            Value bias =
                    export.relativeBias ? g.input("bias", TensorType.of(export.dtype, 1, HEADS, TOKENS, TOKENS)) : null;
            Value y = norm(x);
            for (int i = 0; i < layers; i++) {
                y = norm(g.add(linear(attention(y, mask, bias), HIDDEN, HIDDEN), y));
                Value wide = linear(y, HIDDEN, INNER);
                Value gate = g.add(g.erf(g.div(wide, Math.sqrt(2))), 1);
                y = norm(g.add(linear(g.mul(g.mul(wide, gate), 0.5), INNER, HIDDEN), y));
            }
            g.output("y", y);
        }

        private Value attention(Value x, Value mask, Value bias) {
            Value q = heads(linear(x, HIDDEN, HIDDEN), 0, 2, 1, 3);
            Value k = heads(linear(x, HIDDEN, HIDDEN), 0, 2, 3, 1);
            Value v = heads(linear(x, HIDDEN, HIDDEN), 0, 2, 1, 3);
            double root = Math.sqrt(HEAD);
            Value scores = switch (export.scale) {
                case DIVIDED -> g.div(g.matmul(q, k), root);
                case QUERIES -> g.matmul(g.div(q, root), k);
                case BOTH -> g.matmul(g.mul(q, 1 / Math.sqrt(root)), g.mul(k, 1 / Math.sqrt(root)));
            };
            Value biased = bias == null ? scores : g.add(scores, bias);
            Value mixed = g.matmul(g.softmax(g.add(biased, mask), 3), v);
            return g.reshape(g.transpose(mixed, 0, 2, 1, 3), BATCH, TOKENS, HIDDEN);
        }

        private Value heads(Value x, int... permutation) {
            return g.transpose(g.reshape(x, BATCH, TOKENS, HEADS, HEAD), permutation);
        }

        private Value norm(Value x) {
            Value scale = constant(1, HIDDEN);
            Value bias = constant(0, HIDDEN);
            if (!export.decomposedNorms) {
                return g.layerNorm(x, scale, bias, 1e-5);
            }
            Value deviation = g.sub(x, g.mean(x, true, 2));
            Value variance = g.mean(g.pow(deviation, 2), true, 2);
            return g.add(g.mul(g.div(deviation, g.sqrt(g.add(variance, 1e-5))), scale), bias);
        }

        private Value linear(Value x, int from, int to) {
            return g.add(g.matmul(x, constant(0, from, to)), constant(0, to));
        }

        private Value constant(double about, long... sizes) {
            NdArray array = NdArray.zeros(TensorType.of(export.dtype, sizes));
            for (int i = 0; i < array.size(); i++) {
                array.set(i, about + 0.3 * random.nextGaussian());
            }
            Tensor tensor = Tensor.zeros(array.type());
            array.write(tensor.segment());
            return g.constant(tensor);
        }
    }
}
