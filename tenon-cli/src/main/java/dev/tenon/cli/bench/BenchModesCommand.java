package dev.tenon.cli.bench;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.GpuOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Samples;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The same work under every execution. */
@Command(
        name = "modes",
        mixinStandardHelpOptions = true,
        description = {
            "Times the same work under every execution on a GPU: launches of tiny kernels and their replay, what a"
                    + " recorded run takes beyond its calls, and a model of parallel branches on one stream and on"
                    + " four.",
            "Fails when an execution changes a bit of a result."
        })
final class BenchModesCommand implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final List<Execution> MODES = List.of(
            Execution.stream(),
            Execution.graph(),
            Execution.multiStream(2),
            Execution.multiStream(4),
            Execution.multiStream(2).asGraph(),
            Execution.multiStream(4).asGraph());

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(names = "--steps", paramLabel = "N", description = "Tiny kernels in a row (${DEFAULT-VALUE}).")
    int steps = 200;

    @Option(names = "--blocks", paramLabel = "N", description = "Blocks of four branches (${DEFAULT-VALUE}).")
    int blocks = 9;

    @Option(names = "--side", paramLabel = "N", description = "Their height and width (${DEFAULT-VALUE}).")
    long side = 14;

    @Mixin
    MeasureOptions measuring = new MeasureOptions(50, 0.2);

    @Option(names = "--json", description = "One object a line of the table.")
    boolean json;

    @Mixin
    DeviceOptions device = new DeviceOptions();

    private final Table table = new Table("work", "mode", "median", "p95", "min", "of stream");
    private String card = "";

    @Override
    public Integer call() {
        Target target = device.target();
        if (target.backend().equals("cpu")) {
            throw new InputException("bench modes needs a GPU: the CPU backend has one execution");
        }
        if (steps < 1 || blocks < 1 || side < 1) {
            throw new InputException("--steps, --blocks and --side are 1 or more");
        }
        try (Progress progress = new Progress(spec.commandLine().getErr());
                Engine engine = Engine.open(target, device.options())) {
            card = engine.device().name();
            progress.say("launches …");
            Samples floor = launches(target);
            progress.say("a recorded run …");
            overhead(engine, floor);
            progress.say("a chain of steps …");
            models(engine, ModeModels.chain(steps), steps + " tiny steps in a row, a run", false);
            progress.say("parallel branches …");
            models(engine, ModeModels.inception(blocks, side), blocks + " blocks of four branches, a run", true);
        }
        if (!json) {
            table.print(spec.commandLine().getOut());
            spec.commandLine().getOut().println(card);
        }
        return 0;
    }

    /** Without a model; the least that a recorded run of one kernel takes. */
    private Samples launches(Target target) {
        GpuPlatform platform = GpuPlatforms.named(target.backend());
        try (GpuContext context = GpuOptions.open(platform, target);
                LaunchBench bench = new LaunchBench(context, platform.compiler(), measuring)) {
            Samples launches = bench.launches(steps);
            row(steps + " launches, the host's time", "stream", launches, launches);
            row(steps + " launches, the host's time", "graph", bench.replays(steps), launches);
            Samples floor = bench.floor();
            row("copy in, one kernel, copy out, wait", "graph", floor, null);
            return floor;
        }
    }

    private void overhead(Engine engine, Samples floor) {
        Graph graph = ModeModels.chain(1);
        try (CompiledModel model = engine.compile(graph, options(Execution.graph(), false));
                Session session = model.newSession()) {
            Map<String, Tensor> inputs = Map.of("x", ModeModels.input(graph));
            Samples runs = Samples.measure(() -> session.run(inputs), measuring.runs, measuring.seconds);
            row("a run of one kernel", "graph", runs, null);
            row(
                    "… beyond copies, replay and wait",
                    "graph",
                    Samples.of(new double[] {runs.median() - floor.median()}),
                    null);
        }
    }

    /** A chain is not optimised, or it would be one step. */
    private static CompileOptions options(Execution mode, boolean optimise) {
        CompileOptions options = CompileOptions.defaults().withExecution(mode);
        return options.withCompiler(options.compiler().withOptimise(optimise));
    }

    private void models(Engine engine, Graph graph, String what, boolean optimise) {
        Map<String, Tensor> inputs = Map.of("x", ModeModels.input(graph));
        Tensor expected = null;
        Samples first = null;
        List<Execution> different = new ArrayList<>();
        for (Execution mode : MODES) {
            try (CompiledModel model = engine.compile(graph, options(mode, optimise));
                    Session session = model.newSession()) {
                engine.settle(() -> session.run(inputs), PATIENCE); // algorithms are the same from here on
                Samples runs = Samples.measure(() -> session.run(inputs), measuring.runs, measuring.seconds);
                Tensor result = Objects.requireNonNull(session.run(inputs).get("y"));
                expected = expected == null ? result : expected;
                if (result.segment().mismatch(expected.segment()) >= 0) {
                    different.add(mode);
                }
                first = first == null ? runs : first;
                row(what, mode.toString(), runs, first);
            }
        }
        if (!different.isEmpty()) {
            throw new IllegalStateException(what + ": results differ from those of stream under " + different);
        }
    }

    private void row(String work, String mode, Samples samples, @Nullable Samples stream) {
        if (json) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("bench", "modes");
            object.put("card", card);
            object.put("work", work);
            object.put("mode", mode);
            samples.into(object);
            Json.print(spec.commandLine().getOut(), object);
            return;
        }
        table.row(
                work,
                mode,
                Units.duration(samples.median()),
                Units.duration(samples.p95()),
                Units.duration(samples.min()),
                stream == null ? "" : String.format(java.util.Locale.ROOT, "%.2f", samples.median() / stream.median()));
    }
}
