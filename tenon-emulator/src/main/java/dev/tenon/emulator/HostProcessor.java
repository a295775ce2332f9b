package dev.tenon.emulator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What code may be compiled for.
 *
 * @param options the compiler's
 */
record HostProcessor(List<String> options) {
    private static final Set<String> V3 = Set.of("avx2", "bmi1", "bmi2", "f16c", "fma", "movbe");

    /**
     * The third level of x86-64 where the host has it, which makes fused multiply-adds instructions; else the plain
     * architecture.
     */
    static HostProcessor detect() {
        if (!System.getProperty("os.arch", "").equals("amd64")) {
            return new HostProcessor(List.of());
        }
        try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            Set<String> flags = new HashSet<>(Arrays.asList(lines.filter(line -> line.startsWith("flags"))
                    .findFirst()
                    .orElse("")
                    .split("\\s+")));
            return new HostProcessor(
                    flags.containsAll(V3)
                            ? List.of("-mavx2", "-mbmi", "-mbmi2", "-mf16c", "-mfma", "-mmovbe")
                            : List.of());
        } catch (IOException _) {
            return new HostProcessor(List.of());
        }
    }
}
