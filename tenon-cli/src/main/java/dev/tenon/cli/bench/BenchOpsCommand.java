package dev.tenon.cli.bench;

import dev.tenon.cli.console.GpuOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.console.Values;
import dev.tenon.cuda.check.KernelStage;
import dev.tenon.cuda.check.StepBench;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
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
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Single operations: device time beside a copy of as many bytes. */
@Command(
        name = "ops",
        mixinStandardHelpOptions = true,
        description = {
            "Times single operations by their kernels, inside a graph, on random inputs; bench/peers/ops_torch.py has the same operations, attention_torch.py those of attention.",
            "The share is of the time that a copy of as many bytes, read and written together, takes in the same run."
        })
final class BenchOpsCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "TEXT", arity = "0..*", description = "Only operations whose names contain one of these.")
    List<String> filters = List.of();

    @Option(
            names = "--rows",
            paramLabel = "N",
            defaultValue = "65536",
            converter = Values.Positive.class,
            description = "Rows of 1024 numbers for the operations that memory bounds (${DEFAULT-VALUE}).")
    int rows;

    @Option(names = "--json", description = "One object an operation.")
    boolean json;

    @Mixin
    GpuOptions gpu = new GpuOptions();

    @Override
    public Integer call() {
        List<OpBenches> chosen = OpBenches.all(rows).stream()
                .filter(one -> filters.isEmpty() || filters.stream().anyMatch(one.name()::contains))
                .toList();
        if (chosen.isEmpty()) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    "no operation's name contains one of " + filters + "; a name is, for example, \""
                            + OpBenches.all(rows).getFirst().name() + "\"");
        }
        PrintWriter out = spec.commandLine().getOut();
        Table table = new Table("operation", "device", "GB/s", "of copy", "tier");
        GpuPlatform platform = gpu.platform();
        try (Progress progress = new Progress(spec.commandLine().getErr());
                GpuContext context = gpu.open(platform);
                KernelStage stage = new KernelStage(context, platform.compiler())) {
            for (OpBenches one : chosen) {
                progress.say(one.name() + " …");
                StepBench.Timed timed = new StepBench(stage, one.order(), platform.takesLibraries())
                        .time(one.op(), one.operands(), one.sets());
                if (json) {
                    Json.print(out, object(context, one, timed));
                }
                table.row(
                        one.name(),
                        Units.duration(timed.micros()),
                        String.format(Locale.ROOT, "%.0f", timed.bytes() / timed.micros() / 1e3),
                        String.format(Locale.ROOT, "%.1f%%", 100 * timed.copyMicros() / timed.micros()),
                        timed.tier());
            }
            if (!json) {
                table.print(out);
                out.println(context.device().name() + ", " + platform.name() + " "
                        + platform.driver().version());
            }
        }
        return 0;
    }

    private Map<String, Object> object(GpuContext context, OpBenches one, StepBench.Timed timed) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("bench", "ops");
        object.put("device", gpu.device);
        object.put("card", context.device().name());
        object.put("operation", one.name());
        object.put("tier", timed.tier());
        object.put("device_us", timed.micros());
        object.put("gb_s", timed.bytes() / timed.micros() / 1e3);
        object.put("share_of_copy", timed.copyMicros() / timed.micros());
        return object;
    }
}
