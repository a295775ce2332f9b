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
import dev.tenon.cli.model.ModelInputs;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
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

/** Many threads that run one model, as a server without a batcher has them. */
@Command(
        name = "callers",
        mixinStandardHelpOptions = true,
        description =
                "Times threads that all run one model, each in a session of its own: runs a second, and how evenly"
                        + " they take turns.")
final class BenchCallersCommand implements Callable<Integer> {
    private static final Duration SETTLE_LIMIT = Duration.ofMinutes(1);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "MODEL", arity = "0..1", description = "An .onnx file; all-MiniLM-L6-v2 by default.")
    @Nullable
    Path model;

    @Option(
            names = "--callers",
            split = ",",
            paramLabel = "N",
            converter = Values.ThreadCount.class,
            description = "Numbers of threads to measure with; 2,64 by default.")
    List<Integer> callers = List.of(2, 64);

    @Option(
            names = "--shape",
            paramLabel = "AxB",
            converter = Values.Shape.class,
            description =
                    "Sizes of the model's named dims, in order; 1x32 by default where there are two, else 1 each.")
    @Nullable
    Sizes shape;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            converter = Values.Seconds.class,
            description = "How long they call (${DEFAULT-VALUE}).")
    double seconds = 10;

    @Option(names = "--json", description = "One object a number of callers.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() throws InterruptedException {
        Path file = model != null ? model : DefaultModel.path();
        OnnxModel onnx = OnnxModel.load(file);
        List<String> dims = new ArrayList<>(ModelInputs.dims(onnx.graph().inputs()));
        Sizes sizes = shape != null ? shape : dims.size() == 2 ? Sizes.of("1x32") : Sizes.ones(dims.size());
        Table table = new Table("callers", "runs a second", "median", "p99", "max", "p99 in turns", "heap a run");
        try (Progress progress = new Progress(spec.commandLine().getErr());
                Engine engine = Engine.open(device.target(), device.options());
                CompiledModel compiled = engine.compile(onnx.graph(), settings.apply(CompileOptions.defaults()));
                Session session = compiled.newSession()) {
            Map<String, Tensor> inputs = ModelInputs.generate(compiled.inputs(), sizes.named(dims));
            progress.say("waiting for the JVM to compile the model's loops …");
            boolean _ = engine.settle(() -> session.run(inputs), SETTLE_LIMIT);
            for (int count : callers) {
                progress.say(count + " callers for " + seconds + " s …");
                CallerLoad.Times times = CallerLoad.run(compiled, inputs, count, seconds);
                Samples samples = Samples.of(
                        times.micros().stream().mapToDouble(Double::doubleValue).toArray());
                double rate = times.micros().size() / times.seconds();
                double turns = samples.p99() / (1e6 * count / rate);
                table.row(
                        count,
                        String.format(Locale.ROOT, "%.1f", rate),
                        Units.duration(samples.median()),
                        Units.duration(samples.p99()),
                        Units.duration(samples.max()),
                        String.format(Locale.ROOT, "%.2f", turns),
                        times.bytesPerRun() < 0
                                ? "not counted"
                                : String.format(Locale.ROOT, "%.1f KB", times.bytesPerRun() / 1e3));
                if (json) {
                    Map<String, Object> object = new LinkedHashMap<>();
                    object.put("bench", "callers");
                    object.put("device", engine.target().toString());
                    object.put("card", engine.device().name());
                    object.put("model", String.valueOf(file.getFileName()));
                    object.put("shape", sizes.toString());
                    object.put("callers", count);
                    object.put("runs_per_s", rate);
                    samples.into(object);
                    object.put("p99_us", samples.p99());
                    object.put("p99_turns", turns);
                    object.put("heap_bytes_per_run", times.bytesPerRun());
                    Json.print(spec.commandLine().getOut(), object);
                }
            }
        }
        if (!json) {
            table.print(spec.commandLine().getOut());
            spec.commandLine()
                    .getOut()
                    .println("a turn: the time in which each caller gets one run, callers / runs a second");
        }
        return 0;
    }
}
