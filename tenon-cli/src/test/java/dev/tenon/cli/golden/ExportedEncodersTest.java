package dev.tenon.cli.golden;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Encoders of two layers as PyTorch 2.11 and transformers 5.17 export them, by tracing (script) and by torch.export
 * (dynamo), with attention spelled (eager) and as scaled_dot_product_attention (sdpa); BERT stands for MiniLM, BGE and
 * E5, XLM-RoBERTa for multilingual E5. Made by {@code bench/peers/encoder_exports.py}; large weights are a short
 * pattern, repeated.
 */
final class ExportedEncodersTest {
    private static final Path EXPORTS = Path.of("src/test/resources/exports");
    private static final int TOKENS = 9;

    @TempDir
    static Path folder;

    private static @Nullable Engine emulator;
    private static @Nullable Engine cpu;

    static Stream<String> exports() throws IOException {
        try (Stream<Path> files = Files.list(EXPORTS)) {
            return files.map(file -> file.getFileName().toString().replace(".onnx.gz", "")).sorted().toList().stream();
        }
    }

    @BeforeAll
    static void open() {
        Backend backend = ServiceLoader.load(Backend.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(one -> one.name().equals("emulator"))
                .findFirst()
                .orElseThrow();
        Assumptions.assumeTrue(backend.unavailable().isEmpty(), () -> "emulator skipped: " + backend.unavailable());
        emulator = Engine.open(Target.parse("emulator"));
        cpu = Engine.open(Target.parse("cpu"));
    }

    @AfterAll
    static void close() {
        if (emulator != null && cpu != null) {
            emulator.close();
            cpu.close();
        }
    }

    private static Graph load(String export) throws IOException {
        Path file = folder.resolve(export + ".onnx");
        if (!Files.exists(file)) {
            try (InputStream packed = new GZIPInputStream(Files.newInputStream(EXPORTS.resolve(export + ".onnx.gz")))) {
                Files.copy(packed, file);
            }
        }
        return OnnxModel.load(file).graph();
    }

    /** Two texts of which the second is shorter, and one that is all padding. */
    private static Map<String, Tensor> inputs(Graph graph, int tokens) {
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        graph.inputs().forEach(input -> {
            double[] all = new double[3 * tokens];
            for (int i = 0; i < all.length; i++) {
                boolean there = i < tokens || (i < 2 * tokens && i % tokens < 5);
                all[i] = switch (input.name()) {
                    case "input_ids" -> 3 + i * 7 % 90;
                    case "attention_mask" -> there ? 1 : 0;
                    default -> 0;
                };
            }
            inputs.put(input.name(), Tensor.of(DType.I64, all, 3, tokens));
        });
        return inputs;
    }

    /** The steps of the last layer: from the product before the last attention on. */
    private static List<String> layer(List<StepReport> steps) {
        List<String> names = new ArrayList<>();
        steps.forEach(step -> names.add(step.op()));
        int attention = names.lastIndexOf("plain_attention");
        return attention < 1 ? List.of() : names.subList(attention - 1, names.size());
    }

    @ParameterizedTest
    @MethodSource("exports")
    void aLayerIsSevenStepsOrNineWithRotationsAndGates(String export) throws IOException {
        Graph graph = load(export);
        boolean modern = export.startsWith("modernbert");
        try (CompiledModel model = emulator.compile(graph);
                Session session = model.newSession()) {
            session.run(inputs(graph, TOKENS));
            List<StepReport> steps = model.report().plans().getFirst().steps();
            assertThat(layer(steps))
                    .as(export)
                    .containsExactlyElementsOf(
                            modern
                                    ? List.of(
                                            "rope",
                                            "plain_attention",
                                            "mat_mul",
                                            "layer_norm",
                                            "mat_mul",
                                            "gated_unit",
                                            "mat_mul",
                                            "layer_norm")
                                    : List.of(
                                            "mat_mul",
                                            "plain_attention",
                                            "mat_mul",
                                            "layer_norm",
                                            "mat_mul",
                                            "mat_mul",
                                            "layer_norm"));
            assertThat(steps.stream().map(StepReport::op).toList())
                    .as("both layers of " + export)
                    .doesNotContain("softmax")
                    .filteredOn("plain_attention"::equals)
                    .hasSize(2);
            List<String> moves = List.of("slice", "concat", "transpose");
            assertThat(steps).as(export).noneMatch(step -> modern && moves.contains(step.op()));
        }
    }

    @ParameterizedTest
    @MethodSource("exports")
    void resultsAreTheCpus(String export) throws IOException {
        assertResultsAreTheCpus(export, TOKENS);
    }

    /** Of ModernBERT: more tokens than its window. In f16 queries whose window is padding have other weights. */
    @ParameterizedTest
    @ValueSource(strings = {"eager-dynamo-f32", "eager-script-f32", "sdpa-script-f32"})
    void resultsAreTheCpusWhereWindowsEnd(String form) throws IOException {
        assertResultsAreTheCpus("modernbert-" + form, 40);
    }

    private static void assertResultsAreTheCpus(String export, int tokens) throws IOException {
        Graph graph = load(export);
        Tensor expected = cpu.eager(graph, inputs(graph, tokens)).get("last_hidden_state");
        Tensor actual = emulator.eager(graph, inputs(graph, tokens)).get("last_hidden_state");
        boolean half = export.endsWith("f16");
        double tolerance = half ? 4e-2 : 2e-3;
        // fused, scores beside the least f16 of a mask are not rounded to it: texts of padding alone have other weights
        long compared = half ? expected.elements() / 3 * 2 : expected.elements();
        for (long i = 0; i < compared; i++) {
            double wanted = expected.getDouble(i);
            double given = actual.getDouble(i);
            boolean same = Double.isNaN(wanted)
                    ? Double.isNaN(given)
                    : Math.abs(given - wanted) <= tolerance * (1 + Math.abs(wanted));
            assertThat(same)
                    .as("%s, element %d: %s, of the CPU %s", export, i, given, wanted)
                    .isTrue();
        }
    }
}
