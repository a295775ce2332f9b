package dev.tenon.cli.bench;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Samples;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Operations that memory bounds, on the CPU backend, beside its own copy. */
@Command(
        name = "memory",
        mixinStandardHelpOptions = true,
        description = {
            "Times operations that memory bounds on the CPU backend, through the engine, past the caches.",
            "The share is of the rate of the backend's own copy, a run of which follows each run; bytes are those of "
                    + "input and output, counted once."
        })
final class BenchMemoryCommand implements Callable<Integer> {
    private static final Duration SETTLING = Duration.ofSeconds(20);
    private static final long COPIED = 128 << 20;
    /** Random elements, repeated over larger inputs. */
    private static final long PATTERN = 1 << 20;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "TEXT", arity = "0..*", description = "Only operations whose names contain one of these.")
    List<String> filters = List.of();

    @Mixin
    MeasureOptions measuring = new MeasureOptions(10, 0.5);

    @Option(names = "--json", description = "One object an operation.")
    boolean json;

    @Mixin
    DeviceOptions device = new DeviceOptions();

    /** A model with its input and output. */
    private record Work(CompiledModel model, Session session, Tensor x, Tensor y) implements AutoCloseable {
        static Work of(Engine engine, MemoryBenches bench, Arena arena) {
            CompiledModel model = engine.compile(bench.graph());
            TensorType type = model.outputs().values().iterator().next();
            Tensor x = Tensor.allocate(arena, bench.x());
            fill(x);
            return new Work(model, model.newSession(), x, Tensor.allocate(arena, type));
        }

        void run() {
            session.runInto(Map.of("x", x), Map.of("y", y));
        }

        long bytes() {
            return x.byteSize() + y.byteSize();
        }

        String tier() {
            return model.report().plans().getFirst().steps().getFirst().tier();
        }

        @Override
        public void close() {
            session.close();
            model.close();
        }
    }

    @Override
    public Integer call() {
        if (!device.target().backend().equals("cpu")) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "bench memory measures the CPU backend; for a GPU there is bench ops");
        }
        List<MemoryBenches> chosen = MemoryBenches.all().stream()
                .filter(one -> filters.isEmpty() || filters.stream().anyMatch(one.name()::contains))
                .toList();
        if (chosen.isEmpty()) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    "no operation's name contains one of " + filters + "; a name is, for example, \""
                            + MemoryBenches.all().getFirst().name() + "\"");
        }
        Table table =
                new Table("operation", "median", "least", "GB/s", "copy's GB/s", "of copy", "of best copy", "tier");
        try (Progress progress = new Progress(spec.commandLine().getErr());
                Engine engine = Engine.open(device.target(), device.options());
                Arena arena = Arena.ofShared();
                Work copy = Work.of(engine, MemoryBenches.copy(COPIED), arena)) {
            for (MemoryBenches one : chosen) {
                progress.say(one.name() + " …");
                measure(engine, one, copy, table);
            }
            if (!json) {
                table.print(spec.commandLine().getOut());
                spec.commandLine()
                        .getOut()
                        .println(engine.device().name() + ", " + engine.device().detail());
            }
        }
        return 0;
    }

    private void measure(Engine engine, MemoryBenches one, Work copy, Table table) {
        try (Arena arena = Arena.ofShared();
                Work work = Work.of(engine, one, arena)) {
            engine.settle(work::run, SETTLING);
            List<Double> own = new ArrayList<>();
            List<Double> copies = new ArrayList<>();
            long start = System.nanoTime();
            while (own.size() < measuring.runs || System.nanoTime() - start < 2e9 * measuring.seconds) {
                own.add(micros(work::run));
                copies.add(micros(copy::run));
            }
            Samples of =
                    Samples.of(own.stream().mapToDouble(Double::doubleValue).toArray());
            Samples beside =
                    Samples.of(copies.stream().mapToDouble(Double::doubleValue).toArray());
            double rate = work.bytes() / of.median() / 1e3;
            double copied = copy.bytes() / beside.median() / 1e3;
            double share = rate / copied;
            double best = work.bytes() / of.min() * beside.min() / copy.bytes();
            table.row(
                    one.name(),
                    Units.duration(of.median()),
                    Units.duration(of.min()),
                    String.format(Locale.ROOT, "%.1f", rate),
                    String.format(Locale.ROOT, "%.1f", copied),
                    String.format(Locale.ROOT, "%.0f%%", 100 * share),
                    String.format(Locale.ROOT, "%.0f%%", 100 * best),
                    work.tier());
            if (json) {
                Map<String, Object> object = new LinkedHashMap<>();
                object.put("bench", "memory");
                object.put("card", engine.device().name());
                object.put("operation", one.name());
                object.put("tier", work.tier());
                of.into(object);
                object.put("gb_s", rate);
                object.put("copy_gb_s", copied);
                object.put("share_of_copy", share);
                object.put("share_of_best_copy", best);
                Json.print(spec.commandLine().getOut(), object);
            }
        }
    }

    private static double micros(Runnable run) {
        long before = System.nanoTime();
        run.run();
        return (System.nanoTime() - before) / 1e3;
    }

    private static void fill(Tensor x) {
        DType dtype = x.type().dtype();
        Random random = new Random(7);
        long count = x.type().shape().elements();
        long pattern = Math.min(count, PATTERN);
        MemorySegment memory = x.segment();
        for (long i = 0; i < pattern; i++) {
            double value = dtype.isFloat() ? random.nextGaussian() : random.nextInt(100);
            Elements.setDouble(dtype, memory, i, value);
        }
        long bytes = pattern * dtype.bytes();
        for (long at = bytes; at < memory.byteSize(); at += bytes) {
            MemorySegment.copy(memory, 0, memory, at, Math.min(bytes, memory.byteSize() - at));
        }
    }
}
