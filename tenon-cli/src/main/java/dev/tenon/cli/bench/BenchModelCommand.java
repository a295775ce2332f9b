package dev.tenon.cli.bench;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Samples;
import dev.tenon.cli.console.Sizes;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.console.Values;
import dev.tenon.cli.model.CompileSettings;
import dev.tenon.cli.model.DefaultModel;
import dev.tenon.cli.model.DeviceRuns;
import dev.tenon.cli.model.FirstResult;
import dev.tenon.cli.model.ModelInputs;
import dev.tenon.cli.model.PassOptions;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A whole model, by shape and number of threads. */
@Command(
        name = "model",
        mixinStandardHelpOptions = true,
        description = "Times whole runs of a model, once the JVM has compiled the loops that it runs.")
final class BenchModelCommand implements Callable<Integer> {
    private static final Duration SETTLE_LIMIT = Duration.ofMinutes(1);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "MODEL", arity = "0..1", description = "An .onnx file; all-MiniLM-L6-v2 by default.")
    @Nullable
    Path model;

    @Option(
            names = "--shapes",
            split = ",",
            paramLabel = "AxB",
            converter = Values.Shape.class,
            description =
                    "Sizes of the model's named dims, in order; 1x8,1x32,1x128,1x256,32x128 by default where there are two, else 1 each.")
    List<Sizes> shapes = List.of();

    @Option(
            names = "--thread-counts",
            split = ",",
            paramLabel = "N",
            converter = Values.ThreadCount.class,
            description = "Numbers of worker threads to measure with; 1,2 by default.")
    List<Integer> threadCounts = List.of(1, 2);

    @Mixin
    MeasureOptions measuring = new MeasureOptions(20, 1);

    @Option(names = "--copies", description = "On a GPU: with the copies of inputs and outputs from and to the host.")
    boolean copies;

    @Option(names = "--json", description = "One object a measurement.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    PassOptions passes = new PassOptions();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        Path file = model != null ? model : DefaultModel.path();
        OnnxModel onnx = OnnxModel.load(file);
        List<String> dims = new ArrayList<>(ModelInputs.dims(onnx.graph().inputs()));
        boolean cpu = device.target().backend().equals("cpu");
        Table table = cpu
                ? new Table("shape", "threads", "median", "p95", "min", "max", "runs")
                : new Table("shape", "median", "p95", "min", "max", "runs");
        FirstResult first = null;
        try (Progress progress = new Progress(spec.commandLine().getErr())) {
            for (int threads : threads(cpu)) {
                try (Engine runtime =
                                Engine.open(device.target(), device.options().withThreads(threads));
                        CompiledModel compiled = runtime.compile(onnx.graph(), options());
                        Session session = compiled.newSession()) {
                    for (Sizes shape : shapes.isEmpty() ? defaultShapes(dims.size()) : shapes) {
                        progress.say(file.getFileName() + " " + shape + (cpu ? ", " + threads + " thread(s) …" : " …"));
                        Map<String, Tensor> inputs = ModelInputs.generate(compiled.inputs(), shape.named(dims));
                        boolean begins = first == null;
                        if (first == null) {
                            FirstResult.modelIsLoaded(compiled.planMillis());
                            session.run(inputs);
                            first = FirstResult.now(compiled.planMillis());
                        }
                        if (!settle(runtime, session, inputs, progress)) {
                            spec.commandLine()
                                    .getErr()
                                    .println(
                                            "some loops are not compiled yet; the figures may be slower than later ones");
                        }
                        Samples samples = measure(runtime, session, inputs);
                        table.row(row(shape, cpu ? threads : 0, samples));
                        if (json) {
                            Map<String, Object> object = object(file, runtime, shape, threads, samples);
                            if (begins) {
                                object.put("start", first.object());
                            }
                            Json.print(out, object);
                        }
                    }
                }
            }
        }
        if (!json) {
            table.print(out);
            out.println(first);
        }
        return 0;
    }

    private CompileOptions options() {
        return settings.apply(CompileOptions.defaults())
                .withCompiler(passes.compiler(spec.commandLine().getErr()));
    }

    /** Whether the JVM has compiled the loops of the model; says meanwhile what it waits for. */
    private static boolean settle(Engine runtime, Session session, Map<String, Tensor> inputs, Progress progress) {
        long start = System.nanoTime();
        return runtime.settle(
                () -> {
                    session.run(inputs);
                    progress.say(String.format(
                            Locale.ROOT,
                            "waiting for the JVM to compile the model's loops, %.0f s …",
                            (System.nanoTime() - start) / 1e9));
                },
                SETTLE_LIMIT);
    }

    /** @param threads 0 where they say nothing */
    private static Object[] row(Sizes shape, int threads, Samples samples) {
        List<Object> cells = new ArrayList<>(List.of(shape));
        if (threads > 0) {
            cells.add(threads);
        }
        cells.addAll(List.of(
                Units.duration(samples.median()),
                Units.duration(samples.p95()),
                Units.duration(samples.min()),
                Units.duration(samples.max()),
                samples.count()));
        return cells.toArray();
    }

    /**
     * On a GPU inputs and outputs lie in its memory, as the other side of a comparison has them, unless the copies are
     * asked for.
     */
    private Samples measure(Engine runtime, Session session, Map<String, Tensor> inputs) {
        return copies
                ? Samples.measure(() -> session.run(inputs), measuring.runs, measuring.seconds)
                : DeviceRuns.measure(runtime, session, inputs, measuring.runs, measuring.seconds);
    }

    private Map<String, Object> object(Path file, Engine runtime, Sizes shape, int threads, Samples samples) {
        Map<String, Object> params = new LinkedHashMap<>();
        params.put("model", String.valueOf(file.getFileName()));
        params.put("shape", shape.toString());
        if (runtime.device().backend().equals("cpu")) {
            params.put("threads", threads);
        } else {
            params.put("mode", settings.mode.toString());
            params.put("precision", CompileSettings.word(settings.precision));
            params.put("copies", copies);
        }
        params.put("weights", CompileSettings.word(settings.weights));
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("bench", "model");
        object.put("device", runtime.target().toString());
        object.put("card", runtime.device().name());
        object.put("params", params);
        samples.into(object);
        object.put("runs", samples.count());
        return object;
    }

    /** A GPU is measured once. */
    private List<Integer> threads(boolean cpu) {
        if (device.threads != 0) {
            return List.of(device.threads);
        }
        return cpu ? threadCounts : List.of(1);
    }

    private static List<Sizes> defaultShapes(int dims) {
        return dims == 2 ? Sizes.of("1x8", "1x32", "1x128", "1x256", "32x128") : List.of(Sizes.ones(dims));
    }
}
