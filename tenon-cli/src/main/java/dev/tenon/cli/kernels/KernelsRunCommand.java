package dev.tenon.cli.kernels;

import dev.tenon.cli.console.GpuOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Values;
import dev.tenon.core.error.TenonException;
import dev.tenon.cuda.check.KernelCase;
import dev.tenon.cuda.check.KernelCases;
import dev.tenon.cuda.check.KernelStage;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs the kernels' cases. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        description = "Runs every kernel's cases on a device and compares with float64; exit code 1 when one is wrong.")
final class KernelsRunCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(
            paramLabel = "TEXT",
            arity = "0..*",
            description =
                    "Only cases whose names contain one of these, or of kernels that `kernels list` has under such a name.")
    List<String> filters = List.of();

    @Option(
            names = "--every",
            paramLabel = "N",
            defaultValue = "1",
            converter = Values.Positive.class,
            description = "Only every Nth case (1: all).")
    int every;

    @Option(
            names = "--first",
            paramLabel = "K",
            defaultValue = "1",
            converter = Values.Positive.class,
            description = "With --every: begin at the Kth case, so that N processes share the work (${DEFAULT-VALUE}).")
    int first;

    @Option(
            names = "--cases",
            paramLabel = "FILE",
            description = "Only the cases whose names are lines of this file; all of them have to be there.")
    @Nullable
    Path cases;

    @Option(
            names = "--json",
            description = "One object a case; shared: the most shared memory that a block had, in bytes.")
    boolean json;

    @Mixin
    GpuOptions gpu = new GpuOptions();

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        List<KernelCase> chosen = listed().stream().filter(this::wanted).toList();
        if (chosen.isEmpty()) { // or a misspelt filter would pass
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    "no case's name contains one of " + filters + "; a name is, for example, \""
                            + KernelCases.all().getFirst() + "\"");
        }
        GpuPlatform platform = gpu.platform();
        boolean emulated = platform.name().equals("emulator");
        int passed = 0;
        int failed = 0;
        int left = 0;
        int sharing = 0;
        try (Progress progress = new Progress(spec.commandLine().getErr());
                GpuContext context = gpu.open(platform);
                KernelStage stage = new KernelStage(context, platform.compiler())) {
            for (int i = 0; i < chosen.size(); i++) {
                KernelCase one = chosen.get(i);
                if (i % every != (first - 1) % every || one.heavy() && emulated) {
                    left++;
                    continue;
                }
                progress.say(i + 1 + "/" + chosen.size() + " " + one);
                String fault = fault(stage, one);
                int shared = stage.takeSharedBytes();
                sharing += shared > 0 ? 1 : 0;
                passed += fault.isEmpty() ? 1 : 0;
                failed += fault.isEmpty() ? 0 : 1;
                if (json) {
                    Json.print(out, object(one, fault, shared));
                    out.flush(); // a sanitizer's limit may end the process
                } else if (!fault.isEmpty()) {
                    out.println("FAIL " + one + ": " + fault);
                }
                if (!context.healthy()) {
                    break; // every later case would only repeat the fault
                }
            }
            if (!json) {
                out.println(passed + " passed, " + failed + " failed, " + left + " left out, " + sharing
                        + " with shared memory, on " + context.device().name());
            }
        }
        return failed == 0 ? 0 : 1;
    }

    /** All cases, or those that a file names. */
    private List<KernelCase> listed() {
        List<KernelCase> all = KernelCases.all();
        if (cases == null) {
            return all;
        }
        Set<String> names;
        try {
            names = new HashSet<>(Files.readAllLines(cases));
        } catch (IOException e) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "cannot read the names of cases in " + cases + ": " + e, e);
        }
        if (names.isEmpty()) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), cases + " is empty; expected the name of a case on each line");
        }
        List<KernelCase> found =
                all.stream().filter(one -> names.contains(one.toString())).toList();
        found.forEach(one -> names.remove(one.toString()));
        if (!names.isEmpty()) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    names.size() + " lines of " + cases + " name no case, for example \""
                            + names.iterator().next() + "\"");
        }
        return found;
    }

    private boolean wanted(KernelCase one) {
        return filters.isEmpty() || filters.stream().anyMatch(name -> KernelNames.means(name, one));
    }

    private static String fault(KernelStage stage, KernelCase one) {
        try {
            stage.run(one);
            return "";
        } catch (AssertionError | TenonException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static Map<String, Object> object(KernelCase one, String fault, int shared) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("kernel", one.kernel());
        object.put("case", one.what());
        object.put("status", fault.isEmpty() ? "pass" : "fail");
        object.put("shared", shared);
        object.put("detail", fault);
        return object;
    }
}
