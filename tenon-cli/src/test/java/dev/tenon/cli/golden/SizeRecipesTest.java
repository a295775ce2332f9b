package dev.tenon.cli.golden;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cli.model.ModelInputs;
import dev.tenon.core.backend.Backend;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.compiler.Prepared;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.PlanReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.plan.PlanText;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Plans of real models by the recipe of their sizes are, step by step and byte by byte, those made without it; and
 * those made after others of the model are those made alone.
 */
final class SizeRecipesTest {
    private static final List<Path> FOLDERS = List.of(
            Path.of("src/test/resources/exports"), Path.of("target/dist/models"), Path.of("target/golden-models"));
    private static final int SIZES = 16;

    /** Sizes that are planned and run before the one that is compared. */
    private static final int SIBLINGS = 3;

    private static final long MOST_RUN = 24;

    /** Batches, lengths, sides of pictures; equal ones and ones that are dims of the models among them. */
    private static final long[] USUAL = {1, 2, 3, 5, 8, 12, 32, 64, 128, 384};

    @TempDir
    static Path folder;

    @Test
    void plansAreTheSameStepByStep() throws IOException {
        int plans = 0;
        int models = 0;
        for (Path file : files()) {
            Graph graph = load(file);
            for (Backend backend : ServiceLoader.load(Backend.class)) {
                int made = compare(graph, backend, file.getFileName() + " for " + backend.name());
                plans += made;
                models += made > 0 ? 1 : 0;
            }
        }
        System.out.printf("%d plans of %d models made both ways%n", plans, models);
        assertThat(plans).isGreaterThan(300);
    }

    @Test
    void plansAfterOthersAreThoseMadeAlone() throws IOException {
        int compared = 0;
        for (Path file : files()) {
            Graph graph = load(file);
            Set<String> dims = ModelInputs.dims(graph.inputs());
            SplittableRandom random = new SplittableRandom(graph.nodes().size());
            for (int i = 0; i < 2 && !dims.isEmpty(); i++) {
                List<Map<String, Long>> sizes = new ArrayList<>();
                for (int sibling = 0; sibling <= SIBLINGS; sibling++) {
                    sizes.add(dims.stream()
                            .collect(Collectors.toMap(dim -> dim, _ -> random.nextLong(1, MOST_RUN + 1))));
                }
                Made after = made(graph, sizes);
                Made alone = made(graph, List.of(sizes.getLast()));
                assertThat(after.results).as(file + " " + sizes).isEqualTo(alone.results);
                assertThat(after.plans).as(file + " " + sizes).containsAll(alone.plans);
                compared += alone.plans.isEmpty() ? 0 : 1;
            }
        }
        System.out.printf("%d plans made after others and alone%n", compared);
        assertThat(compared).isGreaterThan(40);
    }

    /**
     * What a model has planned, and what it gave for the last of the sizes.
     *
     * @param results the bytes by name, or the error
     */
    private record Made(Set<String> plans, Map<String, String> results) {}

    private static Made made(Graph graph, List<Map<String, Long>> sizes) {
        Map<String, String> results = new LinkedHashMap<>();
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = engine.compile(graph);
                Session session = model.newSession()) {
            for (Map<String, Long> size : sizes) {
                results = results(session, ModelInputs.generate(model.inputs(), size));
            }
            return new Made(
                    model.report().plans().stream()
                            .map(SizeRecipesTest::described)
                            .collect(Collectors.toSet()),
                    results);
        }
    }

    /** A network may refuse pictures that are too small for it. */
    private static Map<String, String> results(Session session, Map<String, Tensor> inputs) {
        Map<String, String> results = new LinkedHashMap<>();
        try {
            session.run(inputs).forEach((name, tensor) -> {
                byte[] bytes = tensor.segment().toArray(ValueLayout.JAVA_BYTE);
                results.put(name, tensor.type() + " " + HexFormat.of().formatHex(bytes));
                tensor.close();
            });
        } catch (TenonException e) {
            results.put("refused", String.valueOf(e.getMessage()));
        }
        return results;
    }

    private static String described(PlanReport plan) {
        return plan.inputs() + " " + plan.steps() + " " + plan.values() + " " + plan.arenaBytes() + " "
                + plan.workspaceBytes();
    }

    private static List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path from : FOLDERS) {
            if (Files.isDirectory(from)) {
                try (Stream<Path> found = Files.list(from)) {
                    found.filter(file -> file.toString().contains(".onnx"))
                            .sorted()
                            .forEach(files::add);
                }
            }
        }
        return files;
    }

    private static Graph load(Path file) throws IOException {
        if (!file.toString().endsWith(".gz")) {
            return OnnxModel.load(file).graph();
        }
        Path unpacked = folder.resolve(file.getFileName().toString().replace(".gz", ""));
        try (InputStream packed = new GZIPInputStream(Files.newInputStream(file))) {
            Files.copy(packed, unpacked, StandardCopyOption.REPLACE_EXISTING);
        }
        return OnnxModel.load(unpacked).graph();
    }

    private static int compare(Graph graph, Backend backend, String what) {
        boolean varies = graph.inputs().stream()
                .anyMatch(input -> input.shape().dims().stream().anyMatch(dim -> dim instanceof Dim.Named));
        if (!varies) {
            return 0;
        }
        Compiler compiler = new Compiler(CompilerOptions.defaults(), node -> backend.claims(node, Precision.FAST));
        Prepared prepared = compiler.prepare(graph, Map.of());
        SplittableRandom random = new SplittableRandom(graph.nodes().size());
        int made = 0;
        for (int i = 0; i < SIZES; i++) {
            Map<String, TensorType> types = types(prepared, random);
            if (prepared.serving(types).equals(prepared.reduced())) {
                assertThat(PlanText.of(compiler.plan(prepared, types, Map.of())))
                        .as(what + " " + types)
                        .isEqualTo(PlanText.of(compiler.plan(prepared.reduced(), types, Map.of())));
                made++;
            }
        }
        return made;
    }

    private static Map<String, TensorType> types(Prepared prepared, SplittableRandom random) {
        Map<String, Dim> numbers = new HashMap<>();
        Map<String, TensorType> types = new LinkedHashMap<>();
        for (Value input : prepared.graph().inputs()) {
            List<Dim> dims = new ArrayList<>();
            for (Dim dim : input.shape().dims()) {
                dims.add(
                        dim instanceof Dim.Named(String name)
                                ? numbers.computeIfAbsent(name, _ -> Dim.of(number(prepared, name, random)))
                                : dim);
            }
            types.put(input.name(), new TensorType(input.dtype(), Shape.of(dims)));
        }
        return types;
    }

    private static long number(Prepared prepared, String name, SplittableRandom random) {
        long most = Math.min(400, prepared.limits().getOrDefault(name, 400L));
        long usual = USUAL[random.nextInt(USUAL.length)];
        return random.nextBoolean() && usual <= most ? usual : random.nextLong(1, most + 1);
    }
}
