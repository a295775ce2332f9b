package dev.tenon.cli.bench;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.GpuOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Sizes;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.console.Values;
import dev.tenon.cli.model.FirstResult;
import dev.tenon.core.ir.DType;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Target;
import dev.tenon.cuda.kernel.RowRule;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Row kernels: the fast form beside the plain one and beside copying as many bytes. */
@Command(
        name = "softmax",
        mixinStandardHelpOptions = true,
        description = {
            "Times softmax (or another --op) over rows: on a GPU one context, warm kernels, repeated launches each followed by a wait, device time inside a captured graph; without one the CPU backend.",
            "The share is of the time that copying as many bytes takes in the same run."
        })
final class BenchSoftmaxCommand implements Callable<Integer> {
    private static final List<Sizes> ALL = Sizes.of(
            "128x128",
            "1024x1024",
            "4096x1024",
            "65536x1024",
            "1x16777216",
            "1024x32768",
            "64x1000003",
            "262144x1024",
            "4096x50257");

    /** The first of them take up to 256 MiB. */
    private static final int CPU_SHAPES = 7;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(
            names = "--shapes",
            split = ",",
            paramLabel = "ROWSxCOLS",
            converter = Values.Rows.class,
            description =
                    "Rows and columns; by default nine shapes from 128x128 on, on the CPU those of up to 256 MiB.")
    List<Sizes> shapes = List.of();

    @Option(names = "--op", paramLabel = "OP", defaultValue = "SOFTMAX", description = "${COMPLETION-CANDIDATES}.")
    RowRule op = RowRule.SOFTMAX;

    @Option(
            names = "--dtype",
            paramLabel = "T",
            defaultValue = "f32",
            converter = Values.RowType.class,
            description = "f32 (the default), f16, bf16, f64.")
    DType dtype = DType.F32;

    @Mixin
    MeasureOptions measuring = new MeasureOptions(50, 0.2);

    @Option(names = "--json", description = "One object a measurement.")
    boolean json;

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() {
        Target target = device.target();
        if (shapes.isEmpty()) {
            shapes = target.backend().equals("cpu") ? ALL.subList(0, CPU_SHAPES) : ALL;
        }
        if (target.backend().equals("cpu")) {
            onCpu(target);
        } else {
            onGpu(target);
        }
        return 0;
    }

    /** No separate device time: the host is the device. */
    private void onCpu(Target target) {
        PrintWriter out = spec.commandLine().getOut();
        Table table = table();
        try (Progress progress = new Progress(spec.commandLine().getErr());
                Engine engine = Engine.open(target, device.options())) {
            CpuRowBench bench = new CpuRowBench(engine, op, dtype, measuring);
            for (Sizes shape : shapes) {
                progress.say(op.name().toLowerCase(Locale.ROOT) + " " + shape + " …");
                RowBench.Measured m = bench.measure(shape.at(0), shape.at(1));
                row(table, m);
                if (json) {
                    Json.print(out, object(target, engine.device().name(), m));
                }
            }
            if (!json) {
                table.print(out);
                out.println(engine.device().name() + ", " + engine.device().detail() + ", " + dtype + reason(target));
            }
        }
    }

    private static String reason(Target target) {
        return target.reason().isEmpty() ? "" : " (" + target.reason() + ")";
    }

    private static Table table() {
        return new Table("rows", "cols", "variant", "median", "p95", "min", "max", "device", "GB/s", "of copy", "form");
    }

    private void onGpu(Target target) {
        PrintWriter out = spec.commandLine().getOut();
        Table table = table();
        GpuPlatform platform = GpuPlatforms.named(target.backend());
        try (Progress progress = new Progress(spec.commandLine().getErr());
                GpuContext context = GpuOptions.open(platform, target);
                RowBench bench =
                        new RowBench(context, platform.compiler(), op, dtype, measuring.runs, measuring.seconds)) {
            Sizes smallest = shapes.getFirst();
            bench.once(smallest.at(0), smallest.at(1));
            FirstResult first = FirstResult.now();
            boolean told = false;
            for (Sizes shape : shapes) {
                progress.say(op.name().toLowerCase(Locale.ROOT) + " " + shape + " …");
                for (RowBench.Measured m : bench.measure(shape.at(0), shape.at(1))) {
                    row(table, m);
                    if (json) {
                        Map<String, Object> object =
                                object(target, context.device().name(), m);
                        if (!told) {
                            object.put("start", first.object());
                            told = true;
                        }
                        Json.print(out, object);
                    }
                }
            }
            if (!json) {
                table.print(out);
                out.println(context.device().name() + ", " + platform.name() + " "
                        + platform.driver().version() + ", "
                        + platform.compiler().name() + ", " + dtype);
                out.println(first);
            }
        }
    }

    private static void row(Table table, RowBench.Measured m) {
        table.row(
                m.rows(),
                m.cols(),
                m.variant(),
                Units.duration(m.host().median()),
                Units.duration(m.host().p95()),
                Units.duration(m.host().min()),
                Units.duration(m.host().max()),
                Units.duration(m.deviceMicros()),
                String.format(Locale.ROOT, "%.0f", m.gigabytesPerSecond()),
                String.format(Locale.ROOT, "%.1f%%", 100 * m.shareOfCopy()),
                m.form());
    }

    private Map<String, Object> object(Target target, String card, RowBench.Measured m) {
        Map<String, Object> params = new LinkedHashMap<>();
        params.put("rows", m.rows());
        params.put("cols", m.cols());
        params.put("dtype", dtype.toString());
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("bench", op.name().toLowerCase(Locale.ROOT));
        object.put("device", target.ordinal() == 0 ? target.backend() : target.toString());
        object.put("card", card);
        object.put("params", params);
        object.put("variant", m.variant());
        object.put("form", m.form());
        m.host().into(object);
        object.put("device_us", m.deviceMicros());
        object.put("gb_s", m.gigabytesPerSecond());
        object.put("share_of_copy", m.shareOfCopy());
        object.put("runs", m.host().count());
        return object;
    }
}
