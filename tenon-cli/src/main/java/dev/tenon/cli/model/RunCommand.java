package dev.tenon.cli.model;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Values;
import dev.tenon.core.error.Text;
import dev.tenon.core.options.CompileMode;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.ShapeProfile;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.npy.Npy;
import dev.tenon.formats.npy.NpyArray;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Any model, on given or generated inputs. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        description = "Runs an ONNX model: inputs from .npy files or generated, outputs to .npy files.")
public final class RunCommand implements Callable<Integer> {
    private static final int LONGEST_STEM = 100;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "MODEL", description = "An .onnx file.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    Path model;

    @Option(names = "--input", paramLabel = "NAME=FILE.npy", description = "An input; what is not given is generated.")
    Map<String, Path> inputs = new LinkedHashMap<>();

    @Option(
            names = "--dim",
            paramLabel = "NAME=N",
            converter = {Values.Name.class, Values.Size.class},
            description =
                    "The size of a named dim of generated inputs; where not given, that of the --input files, or 1.")
    Map<String, Long> dims = new LinkedHashMap<>();

    @Option(names = "--output-dir", paramLabel = "DIR", description = "Where to write NAME.npy for each output.")
    @Nullable
    Path outputDir;

    @Option(
            names = "--compile",
            paramLabel = "jit|aot",
            defaultValue = "jit",
            description = "When plans are made: at the first run (jit), or before it (aot).")
    CompileMode compile = CompileMode.JIT;

    @Option(
            names = "--runs",
            paramLabel = "N",
            defaultValue = "1",
            converter = Values.Positive.class,
            description = "How often to run; the times of the first and of the others are printed.")
    int runs;

    @Option(
            names = "--profile",
            paramLabel = "FILE",
            description = "Profile one run after the others and write it as a trace that ui.perfetto.dev opens.")
    @Nullable
    Path profile;

    @Mixin
    PassOptions passes = new PassOptions();

    @Option(names = "--json", description = "One object with types and times.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        long start = System.nanoTime();
        OnnxModel onnx = OnnxModel.load(model);
        Map<String, Tensor> given = read();
        try (Engine runtime = Engine.open(device.target(), device.options())) {
            try (CompiledModel compiled = runtime.compile(onnx.graph(), options(onnx, given));
                    Session session = compiled.newSession()) {
                double loaded = millis(start);
                Map<String, Tensor> all = ModelInputs.complete(compiled.inputs(), given, dims);
                double[] times = new double[runs];
                Map<String, Tensor> results = Map.of();
                for (int run = 0; run < runs; run++) {
                    long before = System.nanoTime();
                    results = ModelInputs.run(session, compiled.inputs(), all, given, dims);
                    times[run] = millis(before);
                }
                write(results);
                Path trace = profile;
                if (trace != null) {
                    String title = Text.name(String.valueOf(model.getFileName())) + " on " + runtime.target();
                    RunTrace.write(trace, title, session.runProfiled(all).profile());
                }
                double best = Arrays.stream(times).min().orElse(0);
                Times found = new Times(loaded, compiled.report().planMillis(), times[0], best);
                print(out, runtime, all, results, found);
            }
        }
        return 0;
    }

    private CompileOptions options(OnnxModel onnx, Map<String, Tensor> given) {
        CompileOptions options = settings.apply(CompileOptions.defaults())
                .withCompiler(passes.compiler(spec.commandLine().getErr()));
        if (compile == CompileMode.JIT) {
            return options;
        }
        ShapeProfile profile = ShapeProfile.none();
        Map<String, Long> sizes = ModelInputs.allSizes(onnx.graph().inputs(), given, dims);
        for (Map.Entry<String, Long> dim : sizes.entrySet()) {
            profile = profile.with(dim.getKey(), dim.getValue(), dim.getValue(), dim.getValue());
        }
        return options.withAheadOfTime(profile);
    }

    private Map<String, Tensor> read() throws IOException {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (Map.Entry<String, Path> input : inputs.entrySet()) {
            NpyArray array = Npy.read(input.getValue());
            tensors.put(input.getKey(), Tensor.wrap(array.type(), array.data()));
        }
        return tensors;
    }

    private void write(Map<String, Tensor> results) throws IOException {
        Path folder = outputDir;
        if (folder == null) {
            return;
        }
        Files.createDirectories(folder);
        Set<String> taken = new HashSet<>();
        for (Map.Entry<String, Tensor> result : results.entrySet()) {
            Path file = folder.resolve(fileName(result.getKey(), taken));
            Npy.write(
                    file,
                    new NpyArray(result.getValue().type(), result.getValue().segment()));
        }
    }

    /**
     * A file's name for an output's, which is any text: what file systems bear, never a name twice, capitals or not.
     */
    private static String fileName(String output, Set<String> taken) {
        String plain = output.replaceAll("[^A-Za-z0-9._-]", "_");
        String stem = plain.substring(0, Math.min(plain.length(), LONGEST_STEM));
        String name = stem + ".npy";
        for (int copy = 2; !taken.add(name.toLowerCase(Locale.ROOT)); copy++) {
            name = stem + "-" + copy + ".npy";
        }
        return name;
    }

    /**
     * In milliseconds.
     *
     * @param plan of which the part that was not made ahead of time falls into the first run
     */
    private record Times(double load, double plan, double first, double best) {}

    private void print(
            PrintWriter out, Engine runtime, Map<String, Tensor> inputs, Map<String, Tensor> results, Times times) {
        if (json) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("model", String.valueOf(model.getFileName()));
            object.put("device", runtime.target().toString());
            object.put("inputs", types(inputs));
            object.put("outputs", types(results));
            object.put("jvm_ms", FirstResult.untilCommandMillis());
            object.put("load_ms", times.load);
            object.put("plan_ms", times.plan);
            object.put("first_run_ms", times.first);
            object.put("best_run_ms", times.best);
            Json.print(out, object);
            return;
        }
        inputs.forEach((name, tensor) -> out.println("input   " + Text.name(name) + ": " + tensor));
        results.forEach((name, tensor) -> out.println("output  " + Text.name(name) + ": " + tensor));
        out.printf(
                Locale.ROOT,
                "%s: JVM start %.0f ms, loaded in %.0f ms, planned in %.0f ms, first run %.2f ms%s%n",
                runtime.target(),
                FirstResult.untilCommandMillis(),
                times.load,
                times.plan,
                times.first,
                runs == 1 ? "" : String.format(Locale.ROOT, ", best of %d %.2f ms", runs, times.best));
    }

    private static Map<String, String> types(Map<String, Tensor> tensors) {
        Map<String, String> types = new LinkedHashMap<>();
        tensors.forEach(
                (name, tensor) -> types.put(Text.name(name), tensor.type().toString()));
        return types;
    }

    private static double millis(long since) {
        return (System.nanoTime() - since) / 1e6;
    }
}
