package dev.tenon.emulator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How much memory the host has. */
final class MachineMemory {
    private static final long UNKNOWN = 8L << 30;

    private MachineMemory() {}

    /** Bytes in all, by {@code /proc/meminfo}; 8 GiB where that is not told. */
    static long bytes() {
        try (var lines = Files.lines(Path.of("/proc/meminfo"))) {
            return lines.filter(line -> line.startsWith("MemTotal:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
                    .findFirst()
                    .orElse(UNKNOWN);
        } catch (IOException | NumberFormatException _) {
            return UNKNOWN;
        }
    }
}
