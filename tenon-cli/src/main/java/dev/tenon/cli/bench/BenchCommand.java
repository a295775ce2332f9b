package dev.tenon.cli.bench;

import dev.tenon.cli.console.Subcommands;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** In-process benchmarks. */
@Command(name = "bench", mixinStandardHelpOptions = true, description = "In-process benchmarks: median, p95, min, max.")
public final class BenchCommand implements Runnable {
    /** What can be measured. */
    public static final Subcommands COMMANDS = new Subcommands(List.of(
            Map.entry("model", BenchModelCommand.class),
            Map.entry("stream", BenchStreamCommand.class),
            Map.entry("texts", BenchTextsCommand.class),
            Map.entry("requests", BenchRequestsCommand.class),
            Map.entry("callers", BenchCallersCommand.class),
            Map.entry("softmax", BenchSoftmaxCommand.class),
            Map.entry("ops", BenchOpsCommand.class),
            Map.entry("memory", BenchMemoryCommand.class),
            Map.entry("modes", BenchModesCommand.class),
            Map.entry("allreduce", BenchAllReduceCommand.class)));

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(
                spec.commandLine(),
                "say what to measure: model, stream, texts, requests, callers, softmax, ops, memory, modes or "
                        + "allreduce");
    }
}
