package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class MountsTest {
    private static final List<String> TABLE = List.of(
            "/dev/vda / ext4 rw,relatime 0 0",
            "tmpfs /tmp tmpfs rw,nosuid,noexec 0 0",
            "tmpfs /tmp/may\\040run tmpfs rw 0 0",
            "tmpfs /var tmpfs rw,noexec 0 0",
            "tmpfs /var tmpfs rw 0 0",
            "broken");

    @Test
    void longestMountPointDecidesAndOfEqualOnesTheLast() {
        assertThat(Mounts.noexec(Path.of("/tmp/x.so"), TABLE)).isTrue();
        assertThat(Mounts.noexec(Path.of("/tmp/may run/x.so"), TABLE)).isFalse();
        assertThat(Mounts.noexec(Path.of("/tmpx/x.so"), TABLE)).isFalse();
        assertThat(Mounts.noexec(Path.of("/var/x.so"), TABLE)).isFalse();
        assertThat(Mounts.noexec(Path.of("/home/x.so"), TABLE)).isFalse();
    }
}
