package dev.tenon.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Commands neither outlive this process nor leave files. */
@EnabledOnOs(OS.LINUX)
class HostCommandTest {
    /** Like a compiler: a driver that waits for a pass of its own. Both write down who they are. */
    private static final String COMMAND = "sleep 300 & echo $! $$ > pids.part; mv pids.part pids; wait";

    @TempDir
    Path folder;

    /** A child: runs the command. */
    static final class Running {
        public static void main(String[] arguments) throws IOException {
            HostCommand.run(Path.of(arguments[0]), List.of("sh", "-c", COMMAND), Duration.ofMinutes(5));
        }
    }

    @Test
    void aProcessThatIsToldToEndTakesItsCommandsAndTheirFilesAlong() throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        Process child = ChildJvm.start(
                Running.class,
                Map.of("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + temporary),
                folder.resolve("out"),
                folder.resolve("err"),
                folder.toString());
        List<Long> commands = started();
        child.destroy();
        assertThat(child.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertEnded(commands);
        try (Stream<Path> left = Files.list(temporary)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void aCommandThatTakesTooLongIsEndedWithWhatItStarted() throws Exception {
        assertThatThrownBy(() -> HostCommand.run(folder, List.of("sh", "-c", COMMAND), Duration.ofSeconds(2)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("sh took longer than 2 s");
        assertEnded(started());
    }

    private List<Long> started() throws Exception {
        Path pids = folder.resolve("pids");
        for (int i = 0; i < 3000 && !Files.exists(pids); i++) {
            Thread.sleep(10);
        }
        return Stream.of(Files.readString(pids).strip().split(" "))
                .map(Long::valueOf)
                .toList();
    }

    private static void assertEnded(List<Long> processes) throws Exception {
        assertThat(processes).hasSize(2);
        for (long process : processes) {
            // one that ended may wait for its parent to ask for its status
            for (int i = 0; i < 500 && alive(process); i++) {
                Thread.sleep(10);
            }
            assertThat(alive(process)).as("process %d", process).isFalse();
        }
    }

    private static boolean alive(long process) throws IOException {
        try {
            String status = Files.readString(Path.of("/proc/" + process + "/stat"));
            return status.charAt(status.lastIndexOf(')') + 2) != 'Z';
        } catch (java.nio.file.NoSuchFileException _) {
            return false;
        }
    }
}
