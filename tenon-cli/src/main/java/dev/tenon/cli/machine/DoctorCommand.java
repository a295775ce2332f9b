package dev.tenon.cli.machine;

import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.model.DefaultModel;
import dev.tenon.core.backend.HostLimits;
import dev.tenon.core.error.Text;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.runtime.Target;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.compile.KernelCompilers;
import dev.tenon.cuda.driver.CudaDriver;
import dev.tenon.cuda.driver.CudaLibraryReport;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What was found, what is lost without the rest, and what to do about it. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = "Checks this machine: JVM, vector module, devices, CUDA's libraries, models; with fixes.")
public final class DoctorCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(names = "--json", description = "One object a check.")
    boolean json;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        List<Check> checks = new ArrayList<>(List.of(java(), memory(), limits(), vectors(), model()));
        for (DeviceInfo device : Target.devices()) {
            checks.add(new Check(
                    device.backend() + ":" + device.ordinal(),
                    true,
                    device.name() + ", " + Units.bytes(device.memoryBytes()) + ", " + device.detail(),
                    ""));
        }
        for (String line : Target.unavailable()) {
            checks.add(
                    new Check(line.substring(0, line.indexOf(':')), false, line.substring(line.indexOf(':') + 2), ""));
        }
        checks.add(new Check(
                "best device", true, Target.best() + ": " + Target.best().reason(), ""));
        List<CudaLibraryReport> libraries = CudaLibraryReport.all();
        CudaDriver driver = new CudaDriver();
        checks.add(new Check(
                "cuda driver",
                driver.unavailable().isEmpty(),
                driver.unavailable().isEmpty()
                        ? "CUDA " + driver.version() + ", "
                                + Units.counted(driver.devices().size(), "device")
                        : driver.unavailable(),
                ""));
        checks.addAll(CompilerChecks.of(KernelCompilers.cuda(KernelCache.standard(), driver::version)));
        if (json) {
            checks.forEach(check -> Json.print(out, check.object()));
            libraries.forEach(report -> Json.print(out, LibraryChecks.object(report)));
            return 0;
        }
        Table table = new Table("", "check", "found");
        checks.forEach(check -> table.row(
                check.fine() ? "ok" : "--",
                check.what(),
                check.found() + (check.fix().isEmpty() ? "" : "; fix: " + check.fix())));
        libraries.forEach(report -> table.row(
                report.search().found() != null ? "ok" : "--",
                report.search().library().name(),
                LibraryChecks.found(report)
                        + (report.search().found() != null
                                ? ""
                                : "; fix: " + report.search().library().fix())));
        table.print(out);
        for (CudaLibraryReport report : libraries) {
            if (report.search().found() == null) {
                out.println(report.search().library().name() + " was looked for under");
                LibraryChecks.lines(report.search()).forEach(line -> out.println("    " + line));
            }
        }
        return 0;
    }

    private static Check java() {
        return new Check(
                "java",
                java.lang.Runtime.version().feature() >= 25,
                java.lang.Runtime.version() + " at " + System.getProperty("java.home") + ", "
                        + System.getProperty("os.name") + " " + System.getProperty("os.arch"),
                "");
    }

    private static Check memory() {
        String found = java.lang.Runtime.getRuntime().availableProcessors() + " processors, heap up to "
                + Units.bytes(java.lang.Runtime.getRuntime().maxMemory());
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean os
                ? new Check(
                        "machine",
                        true,
                        found + ", " + Units.bytes(os.getTotalMemorySize()) + " of memory, "
                                + Units.bytes(os.getFreeMemorySize()) + " free",
                        "")
                : new Check("machine", true, found, "");
    }

    /** What a container or the environment leaves of the machine; the driver itself obeys the variables. */
    private static Check limits() {
        List<String> limits = new ArrayList<>();
        long group = HostLimits.groupBytes();
        if (group < Long.MAX_VALUE) {
            limits.add("a control group's limit of " + Units.bytes(group) + " of memory");
        }
        for (String variable : List.of("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")) {
            String value = System.getenv(variable);
            if (value != null) {
                limits.add(variable + "=" + Text.name(value));
            }
        }
        return new Check("limits", true, limits.isEmpty() ? "none found" : String.join(", ", limits), "");
    }

    private static Check vectors() {
        boolean there = Target.devices().stream()
                .anyMatch(device ->
                        device.backend().equals("cpu") && !device.detail().contains("no Vector API"));
        return there
                ? new Check("vector module", true, "jdk.incubator.vector is loaded", "")
                : new Check(
                        "vector module",
                        false,
                        "jdk.incubator.vector is not loaded: plain loops, several times slower",
                        "start Java with --add-modules jdk.incubator.vector");
    }

    private static Check model() {
        Path folder = Path.of(System.getProperty(DefaultModel.PROPERTY, "models"));
        boolean there = Files.isRegularFile(folder.resolve("all-minilm-l6-v2.onnx"));
        return there
                ? new Check(
                        "default model",
                        true,
                        folder.resolve("all-minilm-l6-v2.onnx").toString(),
                        "")
                : new Check(
                        "default model",
                        false,
                        "not in " + folder.toAbsolutePath(),
                        "./mvnw package, or start through ./tenon");
    }
}
