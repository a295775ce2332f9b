package dev.tenon.cuda.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.testkit.ChildJvm;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that are processes, a GPU each. */
@EndsInTime
class GpuProcessesTest {
    @TempDir
    Path folder;

    private List<String> run(int world, String what) throws Exception {
        Gpus.require(world);
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        List<Process> processes = new ArrayList<>();
        try {
            for (int rank = 0; rank < world; rank++) {
                Map<String, String> environment = Map.of(
                        "RANK", "" + rank,
                        "LOCAL_RANK", "" + rank,
                        "WORLD_SIZE", "" + world,
                        "MASTER_ADDR", "127.0.0.1",
                        "MASTER_PORT", "" + port);
                processes.add(ChildJvm.start(
                        RankProcess.class,
                        environment,
                        folder.resolve("out" + rank),
                        folder.resolve("err" + rank),
                        what));
            }
            List<String> outputs = new ArrayList<>();
            for (int rank = 0; rank < world; rank++) {
                boolean ended = processes.get(rank).waitFor(25, TimeUnit.SECONDS);
                outputs.add(Files.readString(folder.resolve("out" + rank)));
                assertThat(ended)
                        .as("rank " + rank + " ended; it said: " + outputs.get(rank))
                        .isTrue();
                assertThat(processes.get(rank).exitValue())
                        .as(outputs.get(rank))
                        .isZero();
            }
            return outputs;
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void sums(int world) throws Exception {
        List<String> outputs = run(world, "sum");
        for (int rank = 0; rank < world; rank++) {
            assertThat(outputs.get(rank)).contains("rank " + rank + " of " + world + " done");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void sumsOfTensors(int world) throws Exception {
        List<String> outputs = run(world, "tensors");
        for (int rank = 0; rank < world; rank++) {
            assertThat(outputs.get(rank)).contains("rank " + rank + " of " + world + " done");
        }
    }

    @Test
    void aProcessThatDiedIsAnExceptionInTheOthers() throws Exception {
        assertThat(run(2, "dead").get(0)).contains("rank 0 was told:");
    }
}
