package dev.tenon.cli.golden;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.compiler.Prepared;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.Precision;
import dev.tenon.core.testkit.plan.PlanText;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plans of real models by the recipe of their sizes are, step by step and byte by byte, those made without it. */
final class SizeRecipesTest {
    private static final List<Path> FOLDERS = List.of(
            Path.of("src/test/resources/exports"), Path.of("target/dist/models"), Path.of("target/golden-models"));
    private static final int SIZES = 16;

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
            Files.copy(packed, unpacked);
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
