package dev.tenon.cli.kernels;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The kernels: what there are, whether they compile, whether they are right. */
@Command(
        name = "kernels",
        mixinStandardHelpOptions = true,
        description = "The GPU kernels.",
        subcommands = {KernelsListCommand.class, KernelsCheckCommand.class, KernelsRunCommand.class})
public final class KernelsCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "say what to do: list, check or run");
    }
}
