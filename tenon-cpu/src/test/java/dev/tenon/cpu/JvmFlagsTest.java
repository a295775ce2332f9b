package dev.tenon.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The backend in JVMs without the vector module, without C2, and with the narrowest vectors. */
class JvmFlagsTest {
    @Test
    void withoutTheVectorModule() throws IOException, InterruptedException {
        String output = run();
        assertThat(output).contains("cases agree, vectors false");
        assertThat(output.split("--add-modules jdk.incubator.vector", -1))
                .as("one notice")
                .hasSize(2);
    }

    @Test
    void withVectorsOfTwoFloats() throws IOException, InterruptedException {
        assertThat(run("--add-modules", "jdk.incubator.vector", "-XX:MaxVectorSize=8"))
                .contains("cases agree, vectors true");
    }

    @Test
    void withoutC2() throws IOException, InterruptedException {
        assertThat(run("--add-modules", "jdk.incubator.vector", "-XX:TieredStopAtLevel=1"))
                .contains("cases agree, vectors true");
    }

    private static String run(String... flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), CasesInAnotherJvm.class.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }
}
