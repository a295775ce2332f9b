package dev.tenon.cli.bench;

import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Samples;
import dev.tenon.cli.console.Sizes;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.console.Values;
import dev.tenon.cli.model.CompileSettings;
import dev.tenon.collective.Algorithm;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.runtime.Target;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** All-reduce between ranks of this process, by number of ranks, length and algorithm. */
@Command(
        name = "allreduce",
        mixinStandardHelpOptions = true,
        description =
                "Times all-reduces (f32, sum) between ranks that are threads of this process, from their release to the last one's result; or, with --device cuda, between its GPUs: one by one, and inside a CUDA graph.")
final class BenchAllReduceCommand implements Callable<Integer> {
    /** Shorter batches would time threads that have just been woken. */
    private static final int BATCH = 50;

    /** Elements that a batch may move in all, so that long vectors end in time. */
    private static final long BATCH_ELEMENTS = 1L << 26;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(
            names = "--shapes",
            split = ",",
            paramLabel = "WORLDxLENGTH",
            converter = Values.WorldAndLength.class,
            description = "Ranks and elements; up to 4x16777216 by default.")
    List<Sizes> shapes = Sizes.of(
            "4x1024", "4x16384", "8x16384", "8x262144", "2x1024", "2x16384", "2x262144", "4x1048576", "4x16777216");

    @Option(
            names = "--variants",
            split = ",",
            paramLabel = "NAME",
            description = "${COMPLETION-CANDIDATES}; all by default.")
    List<Algorithm> variants = List.of(Algorithm.values());

    /** What the ranks are. */
    enum Ranks {
        CPU,
        CUDA
    }

    @Option(names = "--device", paramLabel = "D", defaultValue = "cpu", description = "cpu (the default) or cuda.")
    Ranks device = Ranks.CPU;

    @Option(
            names = "--world",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "With --device cuda: GPUs; all by default.")
    int world;

    @Option(
            names = "--sizes",
            split = ",",
            paramLabel = "BYTES",
            converter = Values.FloatBytes.class,
            description = "With --device cuda: bytes of each vector; 1 KiB to 1 GiB by default.")
    List<Long> sizes = List.of(1L << 10, 8L << 10, 64L << 10, 256L << 10, 1L << 20, 16L << 20, 256L << 20, 1L << 30);

    @Mixin
    MeasureOptions measuring = new MeasureOptions(20, 0.5);

    @Option(names = "--json", description = "One object a measurement.")
    boolean json;

    /** One line of the result. */
    private record Measurement(int world, int length, Algorithm variant, Samples samples) {
        /** Bytes of a rank's vector by time. */
        double algorithmBandwidth() {
            return 4.0 * length / samples.median() / 1e3;
        }

        /** What a ring's links would have to carry for that, whatever the algorithm: comparable between worlds. */
        double busBandwidth() {
            return algorithmBandwidth() * 2 * (world - 1) / world;
        }
    }

    @Override
    public Integer call() {
        refuse(
                device == Ranks.CUDA
                        ? List.of("--shapes", "--variants", "--runs", "--seconds")
                        : List.of("--world", "--sizes"),
                device);
        if (device == Ranks.CUDA) {
            return GpuAllReduceReport.print(spec.commandLine(), world, sizes, json);
        }
        PrintWriter out = spec.commandLine().getOut();
        Table table =
                new Table("world", "length", "variant", "median", "p95", "min", "max", "alg GB/s", "bus GB/s", "runs");
        try (Progress progress = new Progress(spec.commandLine().getErr())) {
            for (Sizes shape : shapes) {
                for (Algorithm variant : variants) {
                    progress.say("all-reduce " + shape + ", " + variant + " …");
                    Measurement measured = measure(Math.toIntExact(shape.at(0)), Math.toIntExact(shape.at(1)), variant);
                    row(table, measured);
                    if (json) {
                        Json.print(out, object(measured));
                    }
                }
            }
        }
        if (!json) {
            table.print(out);
        }
        return 0;
    }

    /**
     * An option that says nothing about such ranks would be passed over, and the figures taken for what they are not.
     */
    private void refuse(List<String> options, Ranks on) {
        for (String option : options) {
            if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
                throw new CommandLine.ParameterException(
                        spec.commandLine(), option + " does not apply to --device " + CompileSettings.word(on));
            }
        }
    }

    private Measurement measure(int world, int length, Algorithm variant) {
        try (AllReduceTiming timing = new AllReduceTiming(world, length, variant)) {
            int batch = Math.clamp(BATCH_ELEMENTS / Math.max(1, (long) world * length), 1, BATCH);
            return new Measurement(
                    world, length, variant, Samples.measure(timing, batch, measuring.runs, measuring.seconds));
        }
    }

    private static void row(Table table, Measurement measured) {
        table.row(
                measured.world(),
                measured.length(),
                measured.variant(),
                Units.duration(measured.samples().median()),
                Units.duration(measured.samples().p95()),
                Units.duration(measured.samples().min()),
                Units.duration(measured.samples().max()),
                String.format(Locale.ROOT, "%.2f", measured.algorithmBandwidth()),
                String.format(Locale.ROOT, "%.2f", measured.busBandwidth()),
                measured.samples().count());
    }

    private static Map<String, Object> object(Measurement measured) {
        Map<String, Object> params = new LinkedHashMap<>();
        params.put("world", measured.world());
        params.put("length", measured.length());
        params.put("dtype", "f32");
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("bench", "allreduce");
        object.put("device", "cpu");
        object.put(
                "card",
                Target.devices().stream()
                        .filter(device -> device.backend().equals("cpu"))
                        .map(DeviceInfo::name)
                        .findFirst()
                        .orElse(null));
        object.put("params", params);
        object.put("variant", measured.variant().toString());
        measured.samples().into(object);
        object.put("gb_s", measured.algorithmBandwidth());
        object.put("bus_gb_s", measured.busBandwidth());
        object.put("runs", measured.samples().count());
        return object;
    }
}
