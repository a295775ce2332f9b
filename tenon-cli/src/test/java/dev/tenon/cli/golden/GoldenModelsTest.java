package dev.tenon.cli.golden;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Precision;
import dev.tenon.core.options.WeightType;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Real models against what ONNX Runtime gave for the same inputs. */
final class GoldenModelsTest {
    private static int skipped;

    @AfterAll
    static void countSkips() {
        if (skipped > 0) {
            System.out.println("golden models: " + skipped
                    + " skipped because their files are not there; ./scripts/fetch-models fetches them");
        }
    }

    static Stream<String> models() {
        return Stream.of(
                "minilm",
                "ppocr-det",
                "ppocr-cls",
                "silero-v5",
                "silero-legacy",
                "mlsd-tiny-320",
                "blazeface-front",
                "light_resnet50",
                "light_squeezenet",
                "light_shufflenet",
                "light_inception_v2");
    }

    @ParameterizedTest
    @MethodSource("models")
    void givesTheSameOutputs(String model) {
        Graph graph = load(model);
        try (Engine runtime = Engine.open(Target.cpu());
                CompiledModel compiled = runtime.compile(graph);
                Session session = compiled.newSession()) {
            for (GoldenCase golden : GoldenCase.of(model)) {
                Map<String, Tensor> outputs = session.run(golden.inputs());
                for (GoldenCase.Output output : golden.outputs()) {
                    check(model + " " + golden.name() + " " + output.name(), output, outputs.get(output.name()));
                }
            }
        }
    }

    /**
     * Each element within 2e-5 (2e-4 for MiniLM) or eight times the other engine's own spread, whichever is more;
     * relative to the value where that is larger than 1.
     */
    private static void check(String what, GoldenCase.Output output, Tensor actual) {
        assertThat(actual.type()).as(what).isEqualTo(output.expected().type());
        double base = Math.max(what.startsWith("minilm") ? 2e-4 : 2e-5, 8 * output.spread());
        double worst = 0;
        for (long i = 0; i < actual.elements(); i++) {
            double expected = output.expected().getDouble(i);
            double error = Math.abs(actual.getDouble(i) - expected) / Math.max(1, Math.abs(expected));
            worst = error > worst || Double.isNaN(error) ? error : worst;
        }
        assertThat(worst).as(what).isLessThanOrEqualTo(base);
    }

    /**
     * Quantised models differ between engines and between one engine's own levels of optimisation: what must agree is
     * the direction. (Each element differs by up to 0.34 between that engine and itself, of values up to 5.)
     */
    @ParameterizedTest
    @ValueSource(strings = "minilm-q")
    void quantisedModelsAgreeInDirection(String model) {
        Graph graph = load(model);
        try (Engine runtime = Engine.open(Target.cpu());
                CompiledModel compiled = runtime.compile(graph);
                Session session = compiled.newSession()) {
            for (GoldenCase golden : GoldenCase.of(model)) {
                Map<String, Tensor> outputs = session.run(golden.inputs());
                for (GoldenCase.Output output : golden.outputs()) {
                    assertThat(cosine(outputs.get(output.name()), output.expected()))
                            .as(model + " " + golden.name())
                            .isGreaterThan(0.98);
                }
            }
        }
    }

    /**
     * The CUDA backend's own code, on CPU threads: step by step and as a replay, in f32 and in 16 bits. The shortest
     * input, so that it stays a matter of seconds.
     */
    @ParameterizedTest
    @CsvSource({"stream,STRICT,UNCHANGED", "multi:2,FAST,F16", "graph,FAST,BF16"})
    void miniLmOnTheEmulator(Execution execution, Precision precision, WeightType type) {
        Graph graph = load("minilm");
        requireEmulator();
        CompileOptions options = CompileOptions.defaults()
                .withExecution(execution)
                .withPrecision(precision)
                .withWeightType(type);
        GoldenCase shortest = GoldenCase.of("minilm").stream()
                .filter(golden -> golden.name().equals("b1s16"))
                .findFirst()
                .orElseThrow();
        try (Engine runtime = Engine.open(Target.parse("emulator"));
                CompiledModel compiled = runtime.compile(graph, options);
                Session session = compiled.newSession()) {
            for (int run = 0; run < (execution.recorded() ? 2 : 1); run++) {
                Map<String, Tensor> outputs = session.run(shortest.inputs());
                GoldenCase.Output output = shortest.outputs().getFirst();
                Tensor actual = outputs.get(output.name());
                if (type == WeightType.UNCHANGED) {
                    check("minilm on the emulator", output, actual);
                }
                assertThat(cosine(actual, output.expected()))
                        .isGreaterThan(type == WeightType.UNCHANGED ? 0.99999 : 0.999);
            }
        }
    }

    /** Convolutional models have a kernel for every node: in their layout and, in 16 bits, with the channels last. */
    @ParameterizedTest
    @CsvSource({
        "light_squeezenet,graph:4,STRICT,UNCHANGED",
        "light_squeezenet,stream,FAST,F16",
        "light_shufflenet,stream,FAST,UNCHANGED",
        "blazeface-front,stream,STRICT,UNCHANGED",
        "ppocr-cls,stream,FAST,UNCHANGED"
    })
    void convolutionsOnTheEmulator(String model, Execution execution, Precision precision, WeightType type) {
        Graph graph = load(model);
        requireEmulator();
        CompileOptions options = CompileOptions.defaults()
                .withExecution(execution)
                .withPrecision(precision)
                .withWeightType(type);
        try (Engine runtime = Engine.open(Target.parse("emulator"));
                CompiledModel compiled = runtime.compile(graph, Weights.none(), options);
                Session session = compiled.newSession()) {
            GoldenCase golden = GoldenCase.of(model).getFirst();
            for (int run = 0; run < (execution.recorded() ? 2 : 1); run++) {
                Map<String, Tensor> outputs = session.run(golden.inputs());
                for (GoldenCase.Output output : golden.outputs()) {
                    Tensor actual = outputs.get(output.name());
                    if (type == WeightType.UNCHANGED) {
                        check(model + " " + output.name(), output, actual);
                    }
                    assertThat(cosine(actual, output.expected())).isGreaterThan(0.999);
                }
            }
            assertThat(compiled.report().plans().getFirst().steps())
                    .noneMatch(step -> step.tier().startsWith("host"));
        }
    }

    private static void requireEmulator() {
        Backend emulator = ServiceLoader.load(Backend.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(backend -> backend.name().equals("emulator"))
                .findFirst()
                .orElseThrow();
        Assumptions.assumeTrue(emulator.unavailable().isEmpty(), () -> "emulator skipped: " + emulator.unavailable());
    }

    private static double cosine(Tensor a, Tensor b) {
        double product = 0;
        double squaresA = 0;
        double squaresB = 0;
        for (long i = 0; i < a.elements(); i++) {
            product += a.getDouble(i) * b.getDouble(i);
            squaresA += a.getDouble(i) * a.getDouble(i);
            squaresB += b.getDouble(i) * b.getDouble(i);
        }
        return product / Math.sqrt(squaresA * squaresB);
    }

    private static Graph load(String model) {
        List<Path> places = List.of(
                GoldenCase.folder(model).resolve(model + ".onnx"),
                Path.of("../target/golden-models", model + ".onnx"),
                Path.of("target/dist/models", model.equals("minilm") ? "all-minilm-l6-v2.onnx" : "-"),
                Path.of("target/golden-models", "all-" + model.replace("minilm", "minilm-l6-v2") + ".onnx"));
        Path file = places.stream().filter(Files::isRegularFile).findFirst().orElse(null);
        if (file == null) {
            skipped++;
        }
        Assumptions.assumeTrue(file != null, () -> "no file of model " + model + " in " + places);
        return OnnxModel.load(file).graph();
    }
}
