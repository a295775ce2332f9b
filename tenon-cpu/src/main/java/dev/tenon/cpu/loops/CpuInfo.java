package dev.tenon.cpu.loops;

import dev.tenon.core.backend.HostLimits;
import dev.tenon.core.report.DeviceInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What the operating system says about the processor. */
public final class CpuInfo {
    private CpuInfo() {}

    /** @param vectors a phrase about them */
    public static DeviceInfo read(String vectors) {
        int cores = Runtime.getRuntime().availableProcessors();
        return new DeviceInfo("cpu", 0, model(), cores + " cores, " + vectors, HostLimits.memoryBytes());
    }

    /** The model as Linux names it, elsewhere the architecture as Java does. */
    private static String model() {
        return lines("/proc/cpuinfo")
                .filter(line -> line.startsWith("model name"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse(System.getProperty("os.arch", "unknown"));
    }

    private static Stream<String> lines(String path) {
        try {
            return Files.readAllLines(Path.of(path)).stream();
        } catch (IOException | RuntimeException e) {
            return List.<String>of().stream();
        }
    }
}
