package dev.tenon.cli.soak;

import dev.tenon.cli.console.Failures;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Samples;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.console.Values;
import dev.tenon.cli.model.CompileSettings;
import dev.tenon.cli.model.DefaultModel;
import dev.tenon.cli.model.ModelInputs;
import dev.tenon.core.error.Text;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

/** Many threads, many shapes, for minutes: whether memory stays flat and results stay the same. */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        description = {
            "Runs a model for minutes by many threads over many shapes, with sessions opened and closed.",
            "Prints memory over time; fails when memory grows after the warm-up or a result changes."
        })
public final class SoakCommand implements Callable<Integer> {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final double WARM_UP_SECONDS = 120;
    private static final int ROWS = 30;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "MODEL", arity = "0..1", description = "An .onnx file; all-MiniLM-L6-v2 by default.")
    @Nullable
    Path model;

    @Option(
            names = "--minutes",
            paramLabel = "M",
            converter = Values.Seconds.class,
            description = "How long (${DEFAULT-VALUE}).")
    double minutes = 10;

    @Option(
            names = "--threads",
            paramLabel = "T",
            converter = Values.Positive.class,
            description = "Threads that call the model (${DEFAULT-VALUE}).")
    int threads = 8;

    @Option(
            names = "--shapes",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "Different sizes of the model's named dims (${DEFAULT-VALUE}).")
    int shapes = 20;

    @Option(
            names = "--largest",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "The largest size of a named dim (${DEFAULT-VALUE}).")
    int largest = 32;

    @Option(
            names = "--device",
            paramLabel = "D",
            converter = Values.Device.class,
            description = "cpu, cuda, cuda:N, emulator or best (the default).")
    String device = "best";

    @Option(names = "--json", description = "One object a line: the samples, then the verdict.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Override
    public Integer call() throws InterruptedException {
        OnnxModel onnx = OnnxModel.load(model != null ? model : DefaultModel.path());
        try (Engine runtime = Engine.open(Target.parse(device), EngineOptions.defaults());
                CompiledModel compiled = runtime.compile(onnx.graph(), settings.apply(CompileOptions.defaults()))) {
            List<Map<String, Tensor>> inputs = inputs(compiled);
            DriverMemory driver = DriverMemory.of(runtime.target());
            try (driver;
                    Soak soak = new Soak(compiled, inputs, threads)) {
                return watch(runtime, soak, driver);
            }
        }
    }

    /** Random sizes, the same in every run of the command. */
    private List<Map<String, Tensor>> inputs(CompiledModel compiled) {
        Set<String> dims = ModelInputs.dims(compiled.inputs());
        SplittableRandom random = new SplittableRandom(7);
        List<Map<String, Tensor>> all = new ArrayList<>();
        for (int i = 0; i < (dims.isEmpty() ? 1 : shapes); i++) {
            Map<String, Long> sizes = new LinkedHashMap<>();
            dims.forEach(dim -> sizes.put(dim, random.nextLong(1, largest + 1L)));
            all.add(ModelInputs.generate(compiled.inputs(), sizes));
        }
        return all;
    }

    private int watch(Engine runtime, Soak soak, DriverMemory driver) throws InterruptedException {
        double seconds = minutes * 60;
        double warmUp = Math.min(WARM_UP_SECONDS, seconds / 3);
        MemoryTrend resident = new MemoryTrend("resident set", warmUp);
        MemoryTrend ledger = new MemoryTrend("held on " + runtime.target(), warmUp);
        MemoryTrend card = new MemoryTrend("used on the card", warmUp);
        List<MemoryTrend> trends = List.of(resident, ledger, card);
        PrintWriter out = spec.commandLine().getOut();
        long start = System.nanoTime();
        double every = Math.max(1, seconds / ROWS);
        double next = 0;
        if (!json) {
            out.printf(
                    "%8s %10s %9s %10s %10s %10s %10s %12s %12s %12s%n",
                    "time", "runs", "sessions", "median", "p95", "p99", "max", "resident", "device", "card used");
        }
        for (double now = 0; now < seconds && soak.failure() == null; now = (System.nanoTime() - start) / 1e9) {
            Thread.sleep((long) (1000 * Math.min(1, Math.max(0.05, seconds - now))));
            now = (System.nanoTime() - start) / 1e9;
            long rss = residentBytes();
            long held = runtime.memory().total();
            long used = driver.used();
            resident.add(now, rss);
            ledger.add(now, held);
            card.add(now, used);
            if (now >= next || now >= seconds) {
                next += every;
                print(out, now, soak, rss, held, used);
            }
        }
        return verdict(out, soak, trends);
    }

    private void print(PrintWriter out, double now, Soak soak, long rss, long held, long used) {
        Samples times = soak.times();
        if (times == null) {
            return;
        }
        if (json) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("seconds", now);
            object.put("runs", soak.runs());
            object.put("sessions", soak.sessions());
            times.into(object);
            object.put("p99_us", times.p99());
            object.put("resident_bytes", rss);
            object.put("device_bytes", held);
            object.put("card_used_bytes", used);
            object.put("host_tensor_bytes", HostMemory.held());
            Json.print(out, object);
        } else {
            out.printf(
                    Locale.ROOT,
                    "%7.0fs %10d %9d %10s %10s %10s %10s %12s %12s %12s%n",
                    now,
                    soak.runs(),
                    soak.sessions(),
                    Units.duration(times.median()),
                    Units.duration(times.p95()),
                    Units.duration(times.p99()),
                    Units.duration(times.max()),
                    rss < 0 ? "-" : Units.bytes(rss),
                    Units.bytes(held),
                    used < 0 ? "-" : Units.bytes(used));
        }
        out.flush();
    }

    private int verdict(PrintWriter out, Soak soak, List<MemoryTrend> trends) {
        Throwable failure = soak.failure();
        List<String> faults = new ArrayList<>();
        if (failure != null) {
            faults.add(Failures.line(failure));
        }
        Map<String, Object> slopes = new LinkedHashMap<>();
        for (MemoryTrend trend : trends) {
            if (!trend.measured()) {
                continue;
            }
            double perMinute = trend.slope() * 60;
            slopes.put(trend.name(), perMinute);
            if (!json) {
                out.printf(
                        Locale.ROOT,
                        "%s: %s on average after the warm-up, %+.3f MiB a minute%n",
                        trend.name(),
                        Units.bytes((long) trend.mean()),
                        perMinute / (1 << 20));
            }
            if (trend.grows()) {
                faults.add(trend.name() + " grew by " + Units.bytes((long) trend.growth()) + " after the warm-up");
            }
        }
        if (json) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("soak", faults.isEmpty() ? "flat" : "failed");
            object.put("runs", soak.runs());
            object.put("sessions", soak.sessions());
            object.put("bytes_a_minute", slopes);
            object.put("faults", faults);
            Json.print(out, object);
        } else if (faults.isEmpty()) {
            out.println(
                    "flat: " + soak.runs() + " runs in " + soak.sessions() + " sessions, every result as the first");
        }
        faults.forEach(fault -> spec.commandLine().getErr().println("tenon soak: " + Text.message(fault)));
        return faults.isEmpty() ? 0 : 1;
    }

    /** Of this process; -1 where the system does not tell. */
    private static long residentBytes() {
        try {
            for (String line : Files.readAllLines(STATUS)) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
                }
            }
        } catch (IOException | NumberFormatException _) {
            // another system
        }
        return -1;
    }
}
