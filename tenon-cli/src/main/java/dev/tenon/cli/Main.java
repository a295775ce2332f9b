package dev.tenon.cli;

import dev.tenon.cli.bench.BenchCommand;
import dev.tenon.cli.compare.CompareCommand;
import dev.tenon.cli.console.Arguments;
import dev.tenon.cli.console.Failures;
import dev.tenon.cli.console.Output;
import dev.tenon.cli.console.Subcommands;
import dev.tenon.cli.console.Values;
import dev.tenon.cli.kernels.KernelsCommand;
import dev.tenon.cli.machine.DevicesCommand;
import dev.tenon.cli.machine.DoctorCommand;
import dev.tenon.cli.model.EmbedCommand;
import dev.tenon.cli.model.ExplainCommand;
import dev.tenon.cli.model.FirstResult;
import dev.tenon.cli.model.RunCommand;
import dev.tenon.cli.profile.CalibrateCommand;
import dev.tenon.cli.profile.ProfileCommand;
import dev.tenon.cli.profile.TuneCommand;
import dev.tenon.cli.ranks.AllReduceCommand;
import dev.tenon.cli.ranks.LaunchCommand;
import dev.tenon.cli.soak.SoakCommand;
import dev.tenon.cli.vision.ClassifyCommand;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Text;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The command: 0 done, 1 failed with one line on standard error, 2 wrong usage. */
@Command(
        name = "tenon",
        description = "Tensor graphs on GPUs and CPUs, from plain Java.",
        mixinStandardHelpOptions = true)
public final class Main implements Runnable {
    private static final Subcommands COMMANDS = new Subcommands(List.of(
            Map.entry("embed", EmbedCommand.class),
            Map.entry("classify", ClassifyCommand.class),
            Map.entry("run", RunCommand.class),
            Map.entry("explain", ExplainCommand.class),
            Map.entry("profile", ProfileCommand.class),
            Map.entry("calibrate", CalibrateCommand.class),
            Map.entry("tune", TuneCommand.class),
            Map.entry("compare", CompareCommand.class),
            Map.entry("doctor", DoctorCommand.class),
            Map.entry("devices", DevicesCommand.class),
            Map.entry("kernels", KernelsCommand.class),
            Map.entry("allreduce", AllReduceCommand.class),
            Map.entry("launch", LaunchCommand.class),
            Map.entry("soak", SoakCommand.class),
            Map.entry("bench", BenchCommand.class)));

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(names = "--stacktrace", scope = ScopeType.INHERIT, description = "Print the stack trace of a failure.")
    boolean stacktrace;

    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Main.class.getModule().getDescriptor() == null
                    ? null
                    : Main.class.getModule().getDescriptor().rawVersion().orElse(null);
            return new String[] {"tenon " + (version == null ? "0.1.0-SNAPSHOT" : version)};
        }
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(
                spec.commandLine(),
                "say what to do: embed, classify, run, explain, profile, compare, calibrate, tune, doctor, devices,"
                        + " kernels, allreduce, launch, soak or bench");
    }

    public static void main(String[] args) {
        FirstResult.commandBegins();
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        String[] utf8;
        try {
            utf8 = Arguments.utf8(args);
        } catch (InputException e) {
            err.println("tenon: " + Failures.line(e));
            System.exit(CommandLine.ExitCode.USAGE);
            return;
        }
        // not System.out, which keeps no fault of writing
        System.exit(execute(new FileOutputStream(FileDescriptor.out), err, utf8));
    }

    /** The command, failed too when what it prints cannot be written. */
    static int execute(OutputStream to, PrintWriter err, String... args) {
        Output output = new Output(to);
        PrintWriter out = new PrintWriter(output, false, StandardCharsets.UTF_8);
        int code = execute(out, err, args);
        out.flush();
        if (code != CommandLine.ExitCode.OK || output.fault().isEmpty()) {
            return code;
        }
        err.println("tenon: the output cannot be written: " + output.fault());
        return CommandLine.ExitCode.SOFTWARE;
    }

    /** The command within a process, for tests. */
    static int execute(PrintWriter out, PrintWriter err, String... args) {
        Main main = new Main();
        CommandLine command = new CommandLine(main);
        List<String> behind = COMMANDS.addTo(command, List.of(args));
        CommandLine bench = command.getSubcommands().get("bench");
        if (bench != null) {
            BenchCommand.COMMANDS.addTo(bench, behind);
        }
        versioned(command);
        command.setOut(out).setErr(err).setCaseInsensitiveEnumValuesAllowed(true);
        command.registerConverter(Path.class, new Values.FilePath());
        command.setExecutionExceptionHandler((e, line, _) -> report(e, err, main.stacktrace, line.getCommandSpec()));
        CommandLine.IParameterExceptionHandler usual = command.getParameterExceptionHandler();
        command.setParameterExceptionHandler((e, given) -> usual.handleParseException(reworded(e), given));
        return command.execute(args);
    }

    /** Every command tells the version, which picocli asks of each by itself. */
    private static void versioned(CommandLine command) {
        command.getCommandSpec().versionProvider(new Version());
        command.getSubcommands().values().forEach(Main::versioned);
    }

    /** picocli's words where they are slips, or name choices otherwise than the help does. */
    private static CommandLine.ParameterException reworded(CommandLine.ParameterException e) {
        String message = String.valueOf(e.getMessage());
        String better = Pattern.compile("expected one of \\[[A-Z0-9_, ]+]")
                .matcher(message.replace("option option", "option"))
                .replaceAll(choices -> choices.group().toLowerCase(Locale.ROOT));
        return better.equals(message) ? e : new CommandLine.ParameterException(e.getCommandLine(), better, e);
    }

    private static int report(Throwable e, PrintWriter err, boolean stacktrace, CommandSpec command) {
        if (stacktrace) {
            e.printStackTrace(err);
        }
        err.println(command.qualifiedName() + ": " + Text.message(Failures.line(e)));
        return CommandLine.ExitCode.SOFTWARE;
    }
}
