package dev.tenon.cli.profile;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Output;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Samples;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.console.Values;
import dev.tenon.cli.model.CompileSettings;
import dev.tenon.cli.model.DefaultModel;
import dev.tenon.cli.model.DimOptions;
import dev.tenon.cli.model.ModelInputs;
import dev.tenon.cli.model.RunTrace;
import dev.tenon.cli.page.ProfilePage;
import dev.tenon.core.error.Text;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.RunProfile;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.store.Store;
import dev.tenon.cuda.timing.Ceilings;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Where the time of a run goes. */
@Command(
        name = "profile",
        mixinStandardHelpOptions = true,
        description = {
            "Where the time of a run goes: kinds of steps, the slowest first, with what they move and compute per second.",
            "On a GPU profiled runs go step by step, with a mark between any two; the time of an ordinary run stands beside theirs."
        })
public final class ProfileCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "MODEL", arity = "0..1", description = "An .onnx file; all-MiniLM-L6-v2 by default.")
    @Nullable
    Path model;

    @Mixin
    DimOptions dims = new DimOptions();

    @Option(
            names = "--runs",
            paramLabel = "N",
            defaultValue = "20",
            converter = Values.Positive.class,
            description = "How many runs are profiled, and how many are timed whole; medians are printed.")
    int runs;

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = "Write the last run as a trace that ui.perfetto.dev and Chrome open.")
    @Nullable
    Path trace;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Write a self-contained page: kinds of steps, the last run's time line, its steps.")
    @Nullable
    Path html;

    @Option(names = "--json", description = "One object a kind of step, then one for the run.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        Path file = model != null ? model : DefaultModel.path();
        OnnxModel onnx = OnnxModel.load(file);
        String title;
        Optional<Ceilings> ceilings;
        Samples whole;
        List<RunProfile> profiles = new ArrayList<>();
        try (Progress progress = new Progress(spec.commandLine().getErr());
                Engine runtime = Engine.open(device.target(), device.options());
                CompiledModel compiled = runtime.compile(onnx.graph(), settings.apply(CompileOptions.defaults()));
                Session session = compiled.newSession()) {
            ceilings = Ceilings.of(runtime.device(), Store.standard());
            title = Text.name(String.valueOf(file.getFileName())) + " on " + runtime.target();
            Map<String, Tensor> inputs = ModelInputs.generate(compiled.inputs(), dims.sizes);
            progress.say("running " + title + " until its times settle …");
            whole = Samples.measure(
                    () -> ModelInputs.run(session, compiled.inputs(), inputs, Map.of(), dims.sizes), runs, 0.2);
            progress.say("profiling " + Units.counted(runs, "run") + " …");
            for (int run = 0; run < runs; run++) {
                profiles.add(session.runProfiled(inputs).profile());
            }
        }
        Path traced = trace;
        if (traced != null) {
            RunTrace.write(traced, title, profiles.getLast());
        }
        List<StepKind> kinds = StepKind.of(profiles);
        Path page = html;
        if (page != null) {
            Output.write(page, page(title, whole, profiles.getLast(), kinds, ceilings));
        }
        if (json) {
            kinds.forEach(kind -> Json.print(out, object(kind, ceilings)));
            Json.print(out, total(title, whole, profiles.getLast(), kinds));
        } else {
            print(out, kinds, ceilings);
            out.println(title + ": " + summary(whole, profiles.getLast(), kinds));
            if (traced != null) {
                out.println("wrote " + traced + "; open it at ui.perfetto.dev");
            }
            if (page != null) {
                out.println("wrote " + page);
            }
        }
        return 0;
    }

    private static String summary(Samples whole, RunProfile last, List<StepKind> kinds) {
        return "steps " + Units.duration(stepMicros(kinds)) + ", a profiled run " + Units.duration(last.micros())
                + ", an ordinary run " + Units.duration(whole.median());
    }

    private String page(
            String title, Samples whole, RunProfile last, List<StepKind> kinds, Optional<Ceilings> ceilings) {
        List<ProfilePage.Kind> rows = kinds.stream()
                .map(kind -> new ProfilePage.Kind(
                        kind.report(), kind.steps(), kind.micros(), kind.share(), rates(kind, ceilings)))
                .toList();
        return ProfilePage.of(title, List.of(summary(whole, last, kinds)), rows, last);
    }

    private String rates(StepKind kind, Optional<Ceilings> ceilings) {
        double flops = kind.gigaflopsPerSecond();
        String rate = flops == 0
                ? String.format(Locale.ROOT, "%.1f GB/s", kind.gigabytesPerSecond())
                : String.format(Locale.ROOT, "%.0f GFLOP/s", flops);
        return rate
                + ceilings.map(best -> kind.share(best, fast()))
                        .map(share -> share > 1 ? ", from a cache" : ", " + ofBest(share) + " of best")
                        .orElse("");
    }

    private static double stepMicros(List<StepKind> kinds) {
        return kinds.stream().mapToDouble(StepKind::micros).sum();
    }

    private void print(PrintWriter out, List<StepKind> kinds, Optional<Ceilings> ceilings) {
        Table table = new Table("op", "steps", "time", "share", "GB/s", "GFLOP/s", "of best", "tier", "types");
        for (StepKind kind : kinds) {
            double flops = kind.gigaflopsPerSecond();
            table.row(
                    kind.report().op(),
                    kind.steps(),
                    Units.duration(kind.micros()),
                    String.format(Locale.ROOT, "%.1f%%", 100 * kind.share()),
                    String.format(Locale.ROOT, "%.1f", kind.gigabytesPerSecond()),
                    flops == 0 ? "" : String.format(Locale.ROOT, "%.0f", flops),
                    ceilings.map(best -> ofBest(kind.share(best, fast()))).orElse(""),
                    kind.report().tier(),
                    kind.report().types());
        }
        table.print(out);
        if (ceilings.isEmpty()) {
            out.println("tenon calibrate measures what the device reaches at best, for the column \"of best\"");
        }
    }

    /** What is faster than copies of arrays that no cache holds was in a cache. */
    private static String ofBest(double share) {
        return share > 1 ? "cache" : String.format(Locale.ROOT, "%.0f%%", 100 * share);
    }

    private boolean fast() {
        return settings.precision == Precision.FAST;
    }

    private Map<String, Object> object(StepKind kind, Optional<Ceilings> ceilings) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("op", kind.report().op());
        object.put("steps", kind.steps());
        object.put("micros", kind.micros());
        object.put("share", kind.share());
        object.put("gb_s", kind.gigabytesPerSecond());
        object.put("gflop_s", kind.gigaflopsPerSecond());
        object.put("of_best", ceilings.map(best -> kind.share(best, fast())).orElse(null));
        object.put("tier", kind.report().tier());
        object.put("types", kind.report().types());
        return object;
    }

    private static Map<String, Object> total(String title, Samples whole, RunProfile last, List<StepKind> kinds) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("run", title);
        object.put("steps", last.steps().size());
        object.put("step_micros", stepMicros(kinds));
        object.put("profiled_run_micros", last.micros());
        object.put("run_micros", whole.median());
        return object;
    }
}
