package dev.tenon.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.NativeException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@link Ranks} as processes under {@code mpirun}; skipped, with the reason printed, where it or the library is
 * missing.
 */
final class MpiTest {
    private static final int SECONDS = 180;

    @TempDir
    Path folder;

    /** How a job of processes ended. */
    private record Job(int code, String output) {}

    private Job mpirun(int ranks, String... arguments) throws IOException, InterruptedException {
        boolean installed = Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(place -> Files.isExecutable(Path.of(place, "mpirun")));
        if (!installed || !MpiCommunicator.isPresent()) {
            String reason = "skipped: " + (installed ? MpiCommunicator.state() : "there is no mpirun on the PATH");
            System.out.println("MpiTest " + reason);
            Assumptions.abort(reason);
        }
        Path output = folder.resolve("output");
        List<String> command = new ArrayList<>(List.of("mpirun", "--oversubscribe", "-n", String.valueOf(ranks)));
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Ranks.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().putAll(Map.of("OMPI_ALLOW_RUN_AS_ROOT", "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"));
        Process job = builder.start();
        boolean ended = job.waitFor(SECONDS, TimeUnit.SECONDS);
        job.destroy();
        String said = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(ended).as("ended within " + SECONDS + " s; it said: " + said).isTrue();
        return new Job(job.exitValue(), said);
    }

    @Test
    void fourProcesses() throws Exception {
        Job job = mpirun(4, "all");
        assertThat(job.code()).as(job.output()).isZero();
        for (int rank = 0; rank < 4; rank++) {
            assertThat(job.output()).contains("rank " + rank + " of 4 done");
        }
    }

    @Test
    void threeProcesses() throws Exception {
        Job job = mpirun(3, "all");
        assertThat(job.code()).as(job.output()).isZero();
    }

    @Test
    void lateProcess() throws Exception {
        Job job = mpirun(3, "late");
        assertThat(job.output()).contains("rank 1 saw it").contains("rank 2 saw it");
    }

    @Test
    void closingDuringAnOperation() throws Exception {
        Job job = mpirun(2, "closing");
        assertThat(job.code()).as(job.output()).isZero();
        assertThat(job.output()).contains("rank 0 closed").contains("rank 1 closed");
    }

    @Test
    void absenceIsAState() {
        assertThat(MpiCommunicator.state()).isNotBlank();
        if (!MpiCommunicator.isPresent()) {
            assertThat(MpiCommunicator.state()).contains("libmpi.so", "install Open MPI");
            assertThatThrownBy(() -> MpiCommunicator.open(MpiOptions.defaults()))
                    .isInstanceOf(NativeException.class)
                    .hasMessage(MpiCommunicator.state());
        }
    }

    @Test
    void timeoutsArePositive() {
        assertThatThrownBy(() -> MpiOptions.defaults().withTimeout(Duration.ZERO))
                .isInstanceOf(InputException.class);
    }
}
