package dev.tenon.cli.ranks;

import dev.tenon.cli.console.Values;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Ranks of one host, a process each. */
@Command(
        name = "launch",
        mixinStandardHelpOptions = true,
        description = {
            "Starts a command N times on this host, with RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set as torchrun sets them.",
            "Lines are printed with the rank before them. When a rank fails the others are ended, and its exit code is the command's; a signal ends them all."
        })
public final class LaunchCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(
            names = {"-n", "--ranks"},
            required = true,
            paramLabel = "N",
            converter = Values.Ranks.class,
            description = "Number of ranks.")
    int ranks;

    @Option(
            names = "--port",
            paramLabel = "P",
            converter = Values.Port.class,
            description = "MASTER_PORT; a free one by default.")
    int port;

    @Parameters(arity = "1..*", paramLabel = "COMMAND", description = "What to run, after --.")
    List<String> command = List.of();

    @Override
    public Integer call() throws IOException, InterruptedException {
        try (RankProcesses processes = new RankProcesses(
                spec.commandLine().getOut(), spec.commandLine().getErr())) {
            processes.start(command, ranks, port != 0 ? port : freePort());
            return processes.await();
        }
    }

    /** One that nobody listens at now; rank 0 will soon. */
    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
