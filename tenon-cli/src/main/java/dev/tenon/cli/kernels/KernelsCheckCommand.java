package dev.tenon.cli.kernels;

import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Values;
import dev.tenon.core.error.ClosedException;
import dev.tenon.cuda.compile.CachingCompiler;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.compile.NvccCompiler;
import dev.tenon.cuda.compile.NvrtcCompiler;
import dev.tenon.cuda.compile.ResourceReport;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.ModuleImage;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import picocli.CommandLine;
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
            "Exit code 1 when one does not compile; 0, and a line that says so, when there is no compiler for it."
        })
final class KernelsCheckCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(
            names = "--arch",
            split = ",",
            paramLabel = "SM",
            converter = Values.Sm.class,
            description =
                    "Architectures; sm_80,sm_90 by default, those that the compiler does not know are left out with a line.")
    List<Architecture> architectures = List.of(new Architecture(8, 0), new Architecture(9, 0));

    @Parameters(
            paramLabel = "TEXT",
            arity = "0..*",
            description = "Only files whose paths contain one of these, or that `kernels list` has under such a name.")
    List<String> filters = List.of();

    @Option(
            names = "--require",
            description = "Exit code 1 also when there is no compiler, or none for one of the architectures.")
    boolean require;

    @Option(
            names = "--every",
            paramLabel = "N",
            defaultValue = "1",
            converter = Values.Positive.class,
            description = "Only every Nth variant of a file and architecture (1: all).")
    int every;

    @Option(
            names = "--first",
            paramLabel = "K",
            defaultValue = "1",
            converter = Values.Positive.class,
            description = "With --every: begin at the Kth, so that N processes share the work (${DEFAULT-VALUE}).")
    int first;

    @Option(
            names = "--keep",
            description = "Leaves the machine code in the kernel cache, and takes what is there already.")
    boolean keep;

    @Option(names = "--json", description = "One object an entry and architecture.")
    boolean json;

    private static final String COLUMNS = "%-44s %-7s %9s %6s %7s %7s%n";

    /** One file's variant for one architecture. */
    private record Job(KernelFile file, KernelVariant variant, Architecture architecture) {
        String name() {
            return architecture + " " + file.path() + variant.suffix();
        }
    }

    private int entries;
    private int failed;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        List<KernelFile> files = KernelCatalog.all().stream()
                .filter(file -> filters.isEmpty() || filters.stream().anyMatch(name -> KernelNames.means(name, file)))
                .toList();
        if (files.isEmpty()) { // or a misspelt filter would pass
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    "no kernel's path or name is one of " + filters + "; a path is, for example, \""
                            + KernelCatalog.all().iterator().next().path() + "\"");
        }
        KernelCompiler nvrtc = new NvrtcCompiler();
        KernelCompiler nvcc = new NvccCompiler();
        KernelCompiler compiler = nvrtc.unavailable().isEmpty() ? nvrtc : nvcc;
        if (!compiler.unavailable().isEmpty()) {
            out.println("not checked: " + nvrtc.unavailable() + "; " + nvcc.unavailable());
            return require ? 1 : 0;
        }
        if (keep) { // compilers for a chip make machine code, for which the driver's version does not matter
            compiler = new CachingCompiler(compiler, KernelCache.standard(), () -> "");
        }
        List<Architecture> known = known(compiler, out);
        List<Job> all = jobs(files, known);
        List<Job> jobs = IntStream.range(0, all.size())
                .filter(i -> i % every == (first - 1) % every)
                .mapToObj(all::get)
                .toList();
        if (!json) {
            out.printf(Locale.ROOT, COLUMNS, "entry", "arch", "registers", "stack", "spills", "shared");
        }
        try (Progress progress = new Progress(spec.commandLine().getErr());
                ExecutorService workers =
                        Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
            List<Future<ModuleImage>> images = new ArrayList<>();
            KernelCompiler chosen = compiler;
            for (Job job : jobs) {
                images.add(workers.submit(() -> chosen.compile(job.file().source(job.variant()), job.architecture())));
            }
            for (int i = 0; i < jobs.size(); i++) {
                progress.say((i + 1) + " of " + jobs.size() + ": " + jobs.get(i).name());
                report(out, jobs.get(i), images.get(i));
                out.flush();
            }
        }
        if (!json) {
            out.println(compiler.name() + ": " + entries + " entries compiled, " + failed + " files failed");
        }
        boolean lacking = require && known.size() < architectures.size();
        return failed == 0 && !lacking ? 0 : 1;
    }

    private List<Architecture> known(KernelCompiler compiler, PrintWriter out) {
        List<Architecture> known = new ArrayList<>();
        for (Architecture architecture : architectures) {
            if (compiler.architectures().stream().anyMatch(a -> a.number() == architecture.number())) {
                known.add(architecture);
            } else {
                out.println("left out: " + compiler.name() + " does not know " + architecture);
            }
        }
        return known;
    }

    private static List<Job> jobs(List<KernelFile> files, List<Architecture> architectures) {
        List<Job> jobs = new ArrayList<>();
        for (Architecture architecture : architectures) {
            files.forEach(file -> file.variants().forEach(variant -> jobs.add(new Job(file, variant, architecture))));
        }
        return jobs;
    }

    private void report(PrintWriter out, Job job, Future<ModuleImage> compiled) {
        ModuleImage image;
        try {
            image = compiled.get();
        } catch (ExecutionException e) {
            failed++;
            out.println("FAIL " + job.name() + ": " + (e.getCause() == null ? e : e.getCause()).getMessage());
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClosedException("interrupted while " + job.name() + " was compiled");
        }
        for (ResourceReport report : ResourceReport.parse(image.log())) {
            entries++;
            if (json) {
                Json.print(out, object(report, job.file(), job.architecture()));
            } else {
                out.printf(
                        Locale.ROOT,
                        COLUMNS,
                        report.entry(),
                        job.architecture(),
                        report.registers(),
                        report.stackBytes(),
                        report.spillStoreBytes() + report.spillLoadBytes(),
                        report.sharedBytes());
            }
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
