package dev.tenon.core.backend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/**
 * What this process may take of the host: a container's limits count. The number of processors is
 * {@link Runtime#availableProcessors}, which knows them.
 */
public final class HostLimits {
    private static final Path ROOT = Path.of("/");

    private HostLimits() {}

    /**
     * Returns the memory of the host in bytes, or the limit of this process's control group where that is less. The
     * largest heap where nothing is told.
     */
    public static long memoryBytes() {
        return memoryBytes(ROOT);
    }

    /** Returns the limit in bytes of this process's control group; {@link Long#MAX_VALUE} where it has none. */
    public static long groupBytes() {
        return groupBytes(ROOT);
    }

    /** The same by the files under a root. */
    static long memoryBytes(Path root) {
        long host = lines(root.resolve("proc/meminfo")).stream()
                .filter(line -> line.startsWith("MemTotal:"))
                .flatMapToLong(HostLimits::numbers)
                .map(kilobytes -> kilobytes * 1024)
                .findFirst()
                .orElse(Runtime.getRuntime().maxMemory());
        return Math.min(host, groupBytes(root));
    }

    /** A group's limits are those of its parents too; where the process sees its group as the root, they are there. */
    static long groupBytes(Path root) {
        long least = Long.MAX_VALUE;
        Path groups = root.resolve("sys/fs/cgroup");
        for (String line : lines(root.resolve("proc/self/cgroup"))) {
            String[] parts = line.split(":", 3);
            boolean second = parts.length == 3 && parts[1].isEmpty();
            boolean first =
                    parts.length == 3 && Arrays.asList(parts[1].split(",")).contains("memory");
            if (second || first) {
                Path top = second ? groups : groups.resolve("memory");
                String file = second ? "memory.max" : "memory.limit_in_bytes";
                Path group = top.resolve(parts[2].substring(1)).normalize();
                for (Path each = group; each != null && each.startsWith(top); each = each.getParent()) {
                    least = Math.min(
                            least,
                            lines(each.resolve(file)).stream()
                                    .flatMapToLong(HostLimits::numbers)
                                    .findFirst()
                                    .orElse(Long.MAX_VALUE));
                }
            }
        }
        return least;
    }

    private static LongStream numbers(String line) {
        return Arrays.stream(line.split("\\D+"))
                .filter(digits -> !digits.isEmpty() && digits.length() < 19)
                .mapToLong(Long::parseLong);
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException | RuntimeException e) {
            return List.of();
        }
    }
}
