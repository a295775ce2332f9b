package dev.tenon.core.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostLimitsTest {
    @TempDir
    Path root;

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    @Test
    void hostsMemoryWithoutAGroup() throws IOException {
        write("proc/meminfo", "MemTotal:        1000 kB\nMemFree: 1 kB\n");
        assertThat(HostLimits.memoryBytes(root)).isEqualTo(1_024_000);
        assertThat(HostLimits.groupBytes(root)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void groupsLimitCounts() throws IOException {
        write("proc/meminfo", "MemTotal:        1000 kB\n");
        write("proc/self/cgroup", "0::/box/inner\n");
        write("sys/fs/cgroup/box/inner/memory.max", "max\n");
        assertThat(HostLimits.memoryBytes(root)).isEqualTo(1_024_000);
        write("sys/fs/cgroup/box/memory.max", "70000\n");
        assertThat(HostLimits.memoryBytes(root)).isEqualTo(70_000);
        write("sys/fs/cgroup/box/inner/memory.max", "5000\n");
        assertThat(HostLimits.memoryBytes(root)).isEqualTo(5_000);
    }

    @Test
    void rootOfANamespaceIsTheGroup() throws IOException {
        write("proc/meminfo", "MemTotal:        1000 kB\n");
        write("proc/self/cgroup", "0::/\n");
        write("sys/fs/cgroup/memory.max", "4096\n");
        assertThat(HostLimits.memoryBytes(root)).isEqualTo(4096);
    }

    @Test
    void groupOfTheFirstVersionCounts() throws IOException {
        write("proc/meminfo", "MemTotal:        1000 kB\n");
        write("proc/self/cgroup", "3:cpu,cpuacct:/a\n4:memory:/a\n");
        write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "8192\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        assertThat(HostLimits.memoryBytes(root)).isEqualTo(8192);
    }

    @Test
    void nothingToldIsTheHeap() {
        assertThat(HostLimits.memoryBytes(root)).isEqualTo(Runtime.getRuntime().maxMemory());
        assertThat(HostLimits.memoryBytes()).isPositive();
    }
}
