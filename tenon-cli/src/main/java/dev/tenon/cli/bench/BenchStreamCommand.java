package dev.tenon.cli.bench;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Samples;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.console.Values;
import dev.tenon.cli.model.CompileSettings;
import dev.tenon.cli.model.DefaultModel;
import dev.tenon.cli.model.ModelInputs;
import dev.tenon.core.error.InputException;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A model whose sizes change from run to run. */
@Command(
        name = "stream",
        mixinStandardHelpOptions = true,
        description =
                "Times runs of a model whose sizes change: the first pass over them, which plans, and later ones.")
final class BenchStreamCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "MODEL", arity = "0..1", description = "An .onnx file; all-MiniLM-L6-v2 by default.")
    @Nullable
    Path model;

    @Option(
            names = "--shapes-from",
            split = ",",
            paramLabel = "DIM=DIST",
            converter = {Values.Name.class, Distribution.Converter.class},
            description = "A distribution for each named dim: a number, A..B evenly, A+exp(M)..B exponentially;"
                    + " 1..8 for the first and 5+exp(40)..128 for the others by default.")
    Map<String, Distribution> shapes = new LinkedHashMap<>();

    @Option(
            names = "--count",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "Runs of a pass (${DEFAULT-VALUE}).")
    int count = 200;

    @Option(
            names = "--passes",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "Passes over the same sizes, of which the first plans (${DEFAULT-VALUE}).")
    int passes = 4;

    @Option(
            names = "--slowest",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "Says where the time of the N slowest new sizes went, behind the first run.")
    int slowest;

    @Option(names = "--json", description = "One object.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() {
        Path file = model != null ? model : DefaultModel.path();
        long before = System.nanoTime();
        OnnxModel onnx = OnnxModel.load(file);
        List<Map<String, Long>> sizes =
                sizes(new ArrayList<>(ModelInputs.dims(onnx.graph().inputs())));
        int distinct = new HashSet<>(sizes).size();
        try (Progress progress = new Progress(spec.commandLine().getErr());
                Engine engine = Engine.open(device.target(), device.options());
                CompiledModel compiled = engine.compile(
                        onnx.graph(), settings.apply(CompileOptions.defaults().withMaxPlans(Math.max(64, distinct))));
                Session session = compiled.newSession()) {
            double loading = micros(before);
            List<double[]> times = new ArrayList<>();
            NewSize.Watch watch = new NewSize.Watch(compiled);
            Set<Map<String, Long>> seen = new HashSet<>();
            List<NewSize> fresh = new ArrayList<>();
            for (int pass = 0; pass < passes; pass++) {
                double[] micros = new double[sizes.size()];
                for (int i = 0; i < micros.length; i++) {
                    progress.say("pass " + (pass + 1) + " of " + passes + ": " + i + " of " + micros.length + " …");
                    Map<String, Tensor> inputs = ModelInputs.generate(compiled.inputs(), sizes.get(i));
                    boolean first = seen.add(sizes.get(i)) && seen.size() > 1;
                    if (first) {
                        watch.begin();
                    }
                    long start = System.nanoTime();
                    session.run(inputs);
                    micros[i] = micros(start);
                    if (first) {
                        fresh.add(watch.end(sizes.get(i), micros[i]));
                    }
                }
                times.add(micros);
            }
            print(file, engine, loading, times, sizes, fresh);
        }
        return 0;
    }

    private static double micros(long start) {
        return (System.nanoTime() - start) / 1e3;
    }

    private List<Map<String, Long>> sizes(List<String> dims) {
        if (!new HashSet<>(dims).containsAll(shapes.keySet())) {
            throw new InputException("--shapes-from names " + shapes.keySet() + "; the model's named dims are " + dims);
        }
        SplittableRandom random = new SplittableRandom(11);
        List<Map<String, Long>> sizes = new ArrayList<>();
        List<Distribution> distributions = new ArrayList<>();
        for (String dim : dims) {
            Distribution usual = Distribution.parse(distributions.isEmpty() ? "1..8" : "5+exp(40)..128");
            distributions.add(shapes.getOrDefault(dim, usual));
        }
        for (int i = 0; i < count; i++) {
            Map<String, Long> one = new LinkedHashMap<>();
            for (int d = 0; d < dims.size(); d++) {
                one.put(dims.get(d), distributions.get(d).next(random));
            }
            sizes.add(one);
        }
        return sizes;
    }

    /**
     * What each new size took beyond its median when it was known. Without the very first run, which opens libraries
     * and loads what all sizes use.
     */
    private static Samples planning(List<double[]> times, List<Map<String, Long>> sizes) {
        Set<Map<String, Long>> seen = new HashSet<>();
        List<Double> micros = new ArrayList<>();
        for (int i = 0; i < sizes.size(); i++) {
            if (seen.add(sizes.get(i)) && i > 0) {
                micros.add(Math.max(0, times.getFirst()[i] - later(times, i).median()));
            }
        }
        return Samples.of(micros.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** The runs of a size behind the first pass. */
    private static Samples later(List<double[]> times, int at) {
        return Samples.of(times.stream().skip(1).mapToDouble(pass -> pass[at]).toArray());
    }

    /** The longest run of a known size, as a multiple of the median of that size's runs. */
    private static double mostOfMedian(List<double[]> times) {
        double most = 0;
        for (int i = 0; i < times.getFirst().length; i++) {
            Samples later = later(times, i);
            most = Math.max(most, later.max() / later.median());
        }
        return most;
    }

    private void print(
            Path file,
            Engine engine,
            double loading,
            List<double[]> times,
            List<Map<String, Long>> sizes,
            List<NewSize> fresh) {
        PrintWriter out = spec.commandLine().getOut();
        List<Double> sums = new ArrayList<>();
        times.forEach(pass -> sums.add(java.util.Arrays.stream(pass).sum()));
        int distinct = new HashSet<>(sizes).size();
        boolean planned = times.size() > 1 && distinct > 1;
        Samples planning = planned ? planning(times, sizes) : null;
        double most = planned ? mostOfMedian(times) : 0;
        if (json) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("bench", "stream");
            object.put("device", engine.target().toString());
            object.put("card", engine.device().name());
            object.put("model", String.valueOf(file.getFileName()));
            object.put("runs", sizes.size());
            object.put("sizes", distinct);
            object.put("load_us", loading);
            object.put("pass_us", sums);
            object.put("first_run_us", times.getFirst()[0]);
            if (planning != null) {
                object.put("plan_median_us", planning.median());
                object.put("plan_p95_us", planning.p95());
                object.put("plan_max_us", planning.max());
                object.put("later_run_of_median", most);
            }
            if (slowest > 0) {
                object.put("slowest", NewSize.objects(fresh, slowest));
            }
            Json.print(out, object);
            return;
        }
        Table table = new Table("", "time");
        table.row("load", Units.duration(loading));
        for (int pass = 0; pass < sums.size(); pass++) {
            table.row("pass " + (pass + 1), Units.duration(sums.get(pass)));
        }
        if (planning != null) {
            table.row("a new size, median", Units.duration(planning.median()));
            table.row("a new size, p95", Units.duration(planning.p95()));
            table.row("a new size, most", Units.duration(planning.max()));
        }
        table.print(out);
        if (planning != null) {
            out.println("The first run of all took " + Units.duration(times.getFirst()[0])
                    + "; of later runs of a size the longest took "
                    + String.format(Locale.ROOT, "%.1f", most) + " times its median.");
        }
        if (slowest > 0) {
            NewSize.print(out, fresh, slowest);
        }
        out.println(Units.counted(sizes.size(), "run") + " a pass, " + Units.counted(distinct, "size"));
    }
}
