package dev.tenon.cli;

import dev.tenon.core.error.TenonException;
import dev.tenon.cuda.compile.NvccCompiler;
import dev.tenon.cuda.compile.NvrtcCompiler;
import dev.tenon.cuda.compile.ResourceReport;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.kernel.KernelFile;
import dev.tenon.cuda.kernel.KernelVariant;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.ModuleImage;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compiles the kernels for architectures that need not be here. */
@Command(
        name = "check",
        mixinStandardHelpOptions = true,
        description = {
            "Compiles every kernel for the given architectures, without a GPU: through NVRTC where it is found, else nvcc.",
            "Exit code 1 when one does not compile; 0, and a line that says so, when there is no compiler."
        })
final class KernelsCheckCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(
            names = "--arch",
            split = ",",
            paramLabel = "SM",
            description =
                    "Architectures; sm_80,sm_90 by default, those that the compiler does not know are left out with a line.")
    List<String> architectures = List.of("sm_80", "sm_90");

    @Parameters(paramLabel = "TEXT", arity = "0..*", description = "Only files whose paths contain one of these.")
    List<String> filters = List.of();

    @Option(names = "--require", description = "Exit code 1 also when there is no compiler.")
    boolean require;

    @Option(names = "--json", description = "One object an entry and architecture.")
    boolean json;

    private final Table table = new Table("entry", "arch", "registers", "stack", "spills", "shared");
    private int entries;
    private int failed;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        KernelCompiler nvrtc = new NvrtcCompiler();
        KernelCompiler nvcc = new NvccCompiler();
        KernelCompiler compiler = nvrtc.unavailable().isEmpty() ? nvrtc : nvcc;
        if (!compiler.unavailable().isEmpty()) {
            out.println("not checked: " + nvrtc.unavailable() + "; " + nvcc.unavailable());
            return require ? 1 : 0;
        }
        try (Progress progress = new Progress(spec.commandLine().getErr())) {
            for (String name : architectures) {
                Architecture architecture = Architecture.parse(name);
                if (!known(compiler, architecture)) {
                    out.println("left out: " + compiler.name() + " does not know " + architecture);
                    continue;
                }
                for (KernelFile file : KernelCatalog.all()) {
                    if (filters.isEmpty() || filters.stream().anyMatch(file.path()::contains)) {
                        for (KernelVariant variant : file.variants()) {
                            progress.say(architecture + " " + file.path() + " "
                                    + variant.suffix().substring(1));
                            check(out, compiler, file, variant, architecture);
                        }
                    }
                }
            }
        }
        if (!json) {
            table.print(out);
            out.println(compiler.name() + ": " + entries + " entries compiled, " + failed + " files failed");
        }
        return failed == 0 ? 0 : 1;
    }

    private static boolean known(KernelCompiler compiler, Architecture architecture) {
        return compiler.architectures().stream().anyMatch(a -> a.number() == architecture.number());
    }

    private void check(
            PrintWriter out, KernelCompiler compiler, KernelFile file, KernelVariant variant, Architecture on) {
        ModuleImage image;
        try {
            image = compiler.compile(file.source(variant), on);
        } catch (TenonException e) {
            failed++;
            out.println("FAIL " + on + " " + file.path() + variant.suffix() + ": " + e.getMessage());
            return;
        }
        for (ResourceReport report : ResourceReport.parse(image.log())) {
            entries++;
            if (json) {
                Json.print(out, object(report, file, on));
            }
            table.row(
                    report.entry(),
                    on,
                    report.registers(),
                    report.stackBytes(),
                    report.spillStoreBytes() + report.spillLoadBytes(),
                    report.sharedBytes());
        }
    }

    private static Map<String, Object> object(ResourceReport report, KernelFile file, Architecture on) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("entry", report.entry());
        object.put("file", file.path());
        object.put("arch", on.toString());
        object.put("registers", report.registers());
        object.put("stack_bytes", report.stackBytes());
        object.put("spill_bytes", report.spillStoreBytes() + report.spillLoadBytes());
        object.put("shared_bytes", report.sharedBytes());
        return object;
    }
}
