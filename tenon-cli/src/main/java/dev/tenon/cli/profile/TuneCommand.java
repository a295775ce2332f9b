package dev.tenon.cli.profile;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Sizes;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.console.Values;
import dev.tenon.cli.model.CompileSettings;
import dev.tenon.cli.model.DefaultModel;
import dev.tenon.cli.model.DeviceRuns;
import dev.tenon.cli.model.ModelInputs;
import dev.tenon.core.error.UnsupportedException;
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
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures what otherwise waits until a device rests. */
@Command(
        name = "tune",
        mixinStandardHelpOptions = true,
        description = {
            "Times the algorithms that CUDA's libraries offer for a model's products and convolutions, and keeps",
            "the fastest. They serve sizes within a factor of 1.5, and every later process. explain says which steps run by them."
        })
public final class TuneCommand implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final long PAUSE_NANOS = 20_000_000;
    private static final int RUNS = 10;
    private static final double SECONDS = 0.1;

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
                    "Sizes of the model's named dims, in order, for each shape that is to be fast; 1 each by default.")
    List<Sizes> shapes = List.of();

    @Option(names = "--json", description = "One object a shape.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    /**
     * A shape, before and after.
     *
     * @param timed steps that run by an algorithm that was timed
     */
    private record Tuned(Sizes shape, double before, double after, long timed, int steps, boolean whole) {
        Map<String, Object> object() {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("shape", shape.toString());
            object.put("before_us", before);
            object.put("after_us", after);
            object.put("timed_steps", timed);
            object.put("steps", steps);
            object.put("complete", whole);
            return object;
        }
    }

    @Override
    public Integer call() {
        String backend = device.target().backend();
        if (!backend.equals("cuda")) {
            throw new UnsupportedException("tune times algorithms of CUDA's libraries, and the " + backend
                    + " backend has none; expected --device cuda");
        }
        PrintWriter out = spec.commandLine().getOut();
        OnnxModel onnx = OnnxModel.load(model != null ? model : DefaultModel.path());
        List<String> dims = new ArrayList<>(ModelInputs.dims(onnx.graph().inputs()));
        List<Tuned> all = new ArrayList<>();
        String name;
        try (Progress progress = new Progress(spec.commandLine().getErr());
                Engine engine = Engine.open(device.target(), device.options());
                CompiledModel compiled = engine.compile(onnx.graph(), settings.apply(CompileOptions.defaults()));
                Session session = compiled.newSession()) {
            name = engine.device().name();
            for (Sizes shape : shapes.isEmpty() ? List.of(Sizes.ones(dims.size())) : shapes) {
                Tuned tuned = tune(engine, compiled, session, shape, shape.named(dims), progress);
                all.add(tuned);
                if (json) {
                    Json.print(out, tuned.object());
                }
            }
        }
        if (!json) {
            print(out, all);
            out.println(name + (all.stream().allMatch(Tuned::whole) ? "" : "; not all was timed: run it again"));
        }
        return 0;
    }

    private static Tuned tune(
            Engine engine,
            CompiledModel compiled,
            Session session,
            Sizes shape,
            Map<String, Long> sizes,
            Progress progress) {
        Map<String, Tensor> inputs = ModelInputs.generate(compiled.inputs(), sizes);
        progress.say(shape + ": by the libraries' favourites …");
        ModelInputs.run(session, compiled.inputs(), inputs, Map.of(), sizes); // says which sizes were guessed
        double before = DeviceRuns.measure(engine, session, inputs, RUNS, SECONDS)
                .median(); // never idle, so nothing is timed beside it
        long start = System.nanoTime();
        boolean whole = engine.settled();
        while (!whole && System.nanoTime() - start < PATIENCE.toNanos()) {
            progress.say(String.format(
                    Locale.ROOT, "%s: timing algorithms, %.1f s …", shape, (System.nanoTime() - start) / 1e9));
            LockSupport.parkNanos(PAUSE_NANOS);
            whole = engine.settled();
        }
        double after =
                DeviceRuns.measure(engine, session, inputs, RUNS, SECONDS).median();
        var steps = session.runProfiled(inputs).profile().steps();
        long timed = steps.stream()
                .filter(step -> step.report().tier().contains("autotuned"))
                .count();
        return new Tuned(shape, before, after, timed, steps.size(), whole);
    }

    private static void print(PrintWriter out, List<Tuned> all) {
        Table table = new Table("shape", "before", "after", "of before", "steps by a timed algorithm");
        for (Tuned one : all) {
            table.row(
                    one.shape(),
                    Units.duration(one.before()),
                    Units.duration(one.after()),
                    String.format(Locale.ROOT, "%.2f", one.after() / one.before()),
                    one.timed() + " of " + one.steps());
        }
        table.print(out);
    }
}
