package dev.tenon.cli.bench;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** In-process benchmarks. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = "In-process benchmarks: median, p95, min, max.",
        subcommands = {
            BenchModelCommand.class,
            BenchStreamCommand.class,
            BenchTextsCommand.class,
            BenchSoftmaxCommand.class,
            BenchOpsCommand.class,
            BenchModesCommand.class,
            BenchAllReduceCommand.class
        })
public final class BenchCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(
                spec.commandLine(), "say what to measure: model, stream, texts, softmax, ops, modes or allreduce");
    }
}
