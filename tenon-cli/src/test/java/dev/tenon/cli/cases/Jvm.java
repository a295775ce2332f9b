package dev.tenon.cli.cases;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A JVM of its own for a case that is about JVMs, with this one's class path. */
final class Jvm implements AutoCloseable {
    private static final List<String> VECTORS = List.of("--add-modules", "jdk.incubator.vector");

    /**
     * How it ended.
     *
     * @param err without what the JVM itself says about incubator modules
     * @param crashed whether it left an error file
     */
    record Result(int code, String out, String err, boolean crashed) {}

    private final Path folder;
    private final Process process;

    private Jvm(Path folder, Process process) {
        this.folder = folder;
        this.process = process;
    }

    /** With the vector module. */
    static Result run(Class<?> main, String... flags) throws IOException, InterruptedException {
        try (Jvm jvm = start(main, Map.of(), true, flags)) {
            return jvm.await(120);
        }
    }

    static Jvm start(Class<?> main, Map<String, String> environment, boolean vectors, String... flags)
            throws IOException {
        return start(main, environment, vectors, List.of(), flags);
    }

    static Jvm start(
            Class<?> main, Map<String, String> environment, boolean vectors, List<String> arguments, String... flags)
            throws IOException {
        Path folder = Files.createTempDirectory("tenon-jvm");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(flags));
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:-CreateCoredumpOnCrash", "--enable-native-access=ALL-UNNAMED"));
        command.add("-XX:ErrorFile=" + folder.resolve("hs_err.log"));
        if (vectors) {
            command.addAll(VECTORS);
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(folder.resolve("out").toFile())
                .redirectError(folder.resolve("err").toFile());
        builder.environment().putAll(environment);
        return new Jvm(folder, builder.start());
    }

    Process process() {
        return process;
    }

    /** Waits until the child has printed a line that says {@code word}. */
    void awaitWord(String word) throws IOException, InterruptedException {
        for (int i = 0; i < 6000; i++) {
            if (Files.readString(folder.resolve("out")).contains(word)) {
                return;
            }
            if (!process.isAlive()) {
                break;
            }
            Thread.sleep(10);
        }
        throw new AssertionError("no \"" + word + "\" from the child: " + Files.readString(folder.resolve("out"))
                + Files.readString(folder.resolve("err")));
    }

    /** @throws AssertionError when it takes longer */
    Result await(int seconds) throws IOException, InterruptedException {
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            throw new AssertionError("the child has not ended after " + seconds + " s");
        }
        String err = Files.readString(folder.resolve("err"))
                .lines()
                .filter(line -> !line.contains("Using incubator modules"))
                .reduce("", (a, b) -> a + b + "\n");
        return new Result(
                process.exitValue(),
                Files.readString(folder.resolve("out")),
                err,
                Files.exists(folder.resolve("hs_err.log")));
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        for (String name : List.of("out", "err", "hs_err.log")) {
            Files.deleteIfExists(folder.resolve(name));
        }
        Files.deleteIfExists(folder);
    }
}
