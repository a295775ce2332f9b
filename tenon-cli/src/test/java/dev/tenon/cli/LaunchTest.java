package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@EnabledOnOs(value = OS.LINUX, disabledReason = "starts sh")
@Timeout(60)
class LaunchTest {
    @Test
    void everyRankHasItsPlace() {
        Cli result = Cli.run(
                "launch",
                "-n",
                "3",
                "--",
                "sh",
                "-c",
                "echo $RANK $LOCAL_RANK $WORLD_SIZE $MASTER_ADDR $MASTER_PORT; echo to err >&2");
        assertThat(result.code()).isZero();
        List<String> lines = result.out().lines().sorted().toList();
        assertThat(lines).hasSize(3);
        String port = lines.getFirst().substring(lines.getFirst().lastIndexOf(' ') + 1);
        assertThat(Integer.parseInt(port)).isBetween(1, 65535);
        for (int rank = 0; rank < 3; rank++) {
            assertThat(lines.get(rank)).isEqualTo("[" + rank + "] " + rank + " " + rank + " 3 127.0.0.1 " + port);
        }
        assertThat(result.err().lines().sorted()).containsExactly("[0] to err", "[1] to err", "[2] to err");
    }

    @Test
    void aFailingRankEndsTheOthers() {
        long began = System.nanoTime();
        Cli result = Cli.run(
                "launch", "-n", "3", "--", "sh", "-c", "if [ $RANK = 1 ]; then exit 7; fi; sleep 50; echo never");
        assertThat(result.code()).isEqualTo(7);
        assertThat(result.err()).contains("rank 1 ended with 7").contains("the other ranks were ended");
        assertThat(result.out()).doesNotContain("never");
        assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began)).isLessThan(30);
    }

    @Test
    void oneThatDoesNotListenIsEndedByForce() {
        Cli result = Cli.run(
                "launch",
                "-n",
                "2",
                "--",
                "sh",
                "-c",
                "if [ $RANK = 1 ]; then sleep 1; exit 3; fi; trap '' TERM; while true; do sleep 1; done");
        assertThat(result.code()).isEqualTo(3);
    }

    @Test
    void wrongUsage() {
        Cli.run("launch", "--", "true").isMisused("--ranks");
        Cli.run("launch", "-n", "2").isMisused("COMMAND");
        Cli.run("launch", "-n", "0", "--", "true").isMisused("--ranks", "'0'", "1 to 1024");
        Cli.run("launch", "-n", "1", "--port", "65536", "--", "true").isMisused("--port", "0 to 65535");
        Cli.run("launch", "-n", "2", "--", "/no/such/command").fails("/no/such/command");
    }

    /** Children inherit it, and a JVM leaves it as it is. */
    private static boolean interruptsAreIgnored() throws IOException {
        Path status = Path.of("/proc/self/status");
        return Files.isReadable(status)
                && Files.readAllLines(status).stream()
                        .filter(line -> line.startsWith("SigIgn:"))
                        .anyMatch(line ->
                                (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 2) != 0);
    }

    /** A signal to the launcher alone ends the ranks too. */
    @ParameterizedTest
    @ValueSource(strings = {"INT", "TERM"})
    void signalsArePassedOn(String signal) throws Exception {
        Assumptions.assumeFalse(
                signal.equals("INT") && interruptsAreIgnored(),
                "SIGINT is ignored here, as in what a shell starts in the background");
        Process launcher = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "launch",
                        "-n",
                        "2",
                        "--",
                        "sh",
                        "-c",
                        "echo $$; exec sleep 50")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        List<ProcessHandle> ranks = new ArrayList<>();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(launcher.getInputStream(), StandardCharsets.UTF_8))) {
            for (int rank = 0; rank < 2; rank++) {
                String line = lines.readLine();
                ranks.add(ProcessHandle.of(Long.parseLong(line.substring(line.indexOf(' ') + 1)))
                        .orElseThrow());
            }
            assertThat(ranks).allMatch(ProcessHandle::isAlive);
            new ProcessBuilder("sh", "-c", "kill -" + signal + " " + launcher.pid())
                    .inheritIO()
                    .start()
                    .waitFor();
            assertThat(launcher.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(launcher.exitValue()).isNotZero();
            for (ProcessHandle rank : ranks) {
                rank.onExit().get(10, TimeUnit.SECONDS);
            }
        } finally {
            launcher.destroyForcibly();
            ranks.forEach(ProcessHandle::destroyForcibly);
        }
    }
}
