package dev.tenon.core.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A JVM of its own, with this one's class path, for tests whose subject may end a process. */
public final class ChildJvm {
    /** @param crashed whether it left an error file */
    public record Result(int code, String out, boolean crashed) {}

    private ChildJvm() {}

    public static Result run(Class<?> main, Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("tenon-child");
        Path out = folder.resolve("out");
        Path error = folder.resolve("hs_err.log");
        try {
            Process process = start(main, environment, out, error, arguments);
            if (!process.waitFor(120, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("the child has not ended after 120 s: " + Files.readString(out));
            }
            return new Result(process.exitValue(), Files.readString(out, StandardCharsets.UTF_8), Files.exists(error));
        } finally {
            Files.deleteIfExists(out);
            Files.deleteIfExists(error);
            Files.deleteIfExists(folder);
        }
    }

    public static Process start(
            Class<?> main, Map<String, String> environment, Path out, Path error, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:-CreateCoredumpOnCrash",
                "-XX:ErrorFile=" + error,
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
        builder.environment().putAll(environment);
        return builder.start();
    }
}
