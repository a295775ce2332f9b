package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command and its launcher in environments that lack something. Linux, where there is a shell. */
class EnvironmentTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /** 模型 as the shell writes it, whatever the locale of this JVM. */
    private static final String MODEL = "\"$(printf '\\346\\250\\241\\345\\236\\213')\"";

    @TempDir
    Path folder;

    private record Result(int code, String out, String err) {}

    private static Result shell(String... script) throws Exception {
        Process process = new ProcessBuilder("/bin/sh", "-c", String.join("\n", script)).start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        return new Result(process.exitValue(), out, err);
    }

    /** The command in a JVM of its own, as the launcher starts it. */
    private static String java(String environment) {
        return "env -u LC_ALL -u LC_CTYPE -u LANG " + environment + " '"
                + Path.of(System.getProperty("java.home"), "bin", "java") + "' -XX:+UseSerialGC"
                + " --enable-native-access=ALL-UNNAMED --add-exports java.base/jdk.internal.module=ALL-UNNAMED"
                + " -Dtenon.models='" + Cli.MODELS.toAbsolutePath() + "' -cp '" + System.getProperty("java.class.path")
                + "' "
                + Main.class.getName() + " ";
    }

    @ParameterizedTest
    @ValueSource(strings = {"LC_ALL=C", "LC_ALL=C.UTF-8", "LANG=de_DE.UTF-8", ""})
    void textsAreUtf8WhateverTheLocale(String locale) throws Exception {
        Result result = shell(java(locale) + "embed --device cpu --json " + MODEL);
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).startsWith("{\"text\":\"模型\",\"vector\":[0.00403");
        assertThat(result.code()).isZero();
    }

    @Test
    void argumentsThatAreNotUtf8AreRefused() throws Exception {
        for (String locale : List.of("LC_ALL=C", "LC_ALL=C.UTF-8")) {
            Result result = shell(java(locale) + "embed --device cpu \"$(printf 'caf\\351')\"");
            assertThat(result.code()).isEqualTo(2);
            assertThat(result.err().lines()).singleElement().asString().contains("not UTF-8", "0xe9");
            assertThat(result.out()).isEmpty();
        }
    }

    @Test
    void pathsOutsideTheLocaleAreRefusedWithTheFix() throws Exception {
        Result result = shell(java("LC_ALL=C") + "run " + MODEL + ".onnx");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("LC_ALL=C.UTF-8").doesNotContain("InvalidPathException", "\tat ");
    }

    @Test
    void errorsComeWithoutWordsOfTheJvm() throws Exception {
        Result result = shell(java("LC_ALL=C.UTF-8") + "run missing.onnx");
        assertThat(result.err().lines())
                .containsExactly("tenon run: missing.onnx cannot be read: there is no such file");
        assertThat(result.code()).isEqualTo(1);
        // the vector module is there all the same
        assertThat(shell(java("LC_ALL=C.UTF-8") + "doctor").out()).contains("jdk.incubator.vector is loaded");
    }

    /** Modules are only checked where they are a module path: here, and by no other test. */
    @Test
    void modulePathStartsToo() throws Exception {
        String modules = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> entry.matches(
                                ".*/(tenon-[a-z-]+/target/(classes|tenon-[^/]*\\.jar)|jackson-core[^/]*|picocli[^/]*)")
                        && !entry.contains("-tests"))
                .collect(Collectors.joining(File.pathSeparator));
        Result result = shell("'" + Path.of(System.getProperty("java.home"), "bin", "java")
                + "' -XX:+UseSerialGC --enable-native-access=dev.tenon.nativelib -p '" + modules
                + "' -m dev.tenon.cli/dev.tenon.cli.Main doctor");
        assertThat(result.out()).as(result.err()).contains("jdk.incubator.vector is loaded");
        assertThat(result.code()).isZero();
    }

    /** A checkout with the real launcher, a JDK whose java prints its arguments, and a build that ends as told. */
    private Path checkout(String build) throws IOException {
        Path checkout = Files.createDirectory(folder.resolve("checkout"));
        Files.createDirectory(checkout.resolve("scripts"));
        for (String name : List.of("tenon", "scripts/find-jdk", "scripts/utf8-locale")) {
            Files.copy(ROOT.resolve(name), checkout.resolve(name));
        }
        Path bin = Files.createDirectories(folder.resolve("jdk/bin"));
        Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"25\"\n");
        script(bin.resolve("javac"), "true");
        script(bin.resolve("java"), "for one in \"$@\"; do echo \"[$one]\"; done; echo LC_ALL=${LC_ALL:-}; exit 7");
        script(checkout.resolve("mvnw"), build);
        Files.createDirectories(checkout.resolve("target"));
        return checkout;
    }

    private static void script(Path file, String text) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + text + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private Result launch(Path checkout, String environment, String... args) throws Exception {
        return shell("exec env -i PATH=/usr/bin:/bin TENON_JDK='" + folder.resolve("jdk") + "' " + environment + " '"
                + checkout.resolve("tenon") + "' " + String.join(" ", args));
    }

    @Test
    void pc02LauncherNeedsNoHome() throws Exception {
        Result result = launch(checkout("true"), "TENON_NO_BUILD=1", "doctor", "'two words'");
        assertThat(result.out()).contains("[dev.tenon.cli.Main]\n[doctor]\n[two words]\n");
        assertThat(result.code()).as("that of the command").isEqualTo(7);
        // nor does the search for a JDK
        Result none = shell(
                "exec env -i PATH=/nowhere TENON_JDK=/nowhere /bin/sh '" + ROOT.resolve("scripts/find-jdk") + "'");
        assertThat(none.err()).doesNotContain("HOME: ");
    }

    @Test
    void launcherTakesALocaleWithUtf8() throws Exception {
        Result has = shell("LC_ALL=C.UTF-8 locale charmap");
        Assumptions.assumeTrue(has.out().strip().equals("UTF-8"), "no locale with UTF-8 here");
        Path checkout = checkout("true");
        assertThat(launch(checkout, "TENON_NO_BUILD=1 LC_ALL=C").out()).contains("LC_ALL=C.UTF-8");
        assertThat(launch(checkout, "TENON_NO_BUILD=1 LANG=de_XX.UTF-8").out()).contains("LC_ALL=C.UTF-8");
    }

    @Test
    void failedBuildShowsItsOwnLog() throws Exception {
        Path checkout = checkout("echo fault of this build; exit 1");
        Path log = Files.writeString(checkout.resolve("target/build.log"), "fault of an old build\n");
        Result result = launch(checkout, "");
        assertThat(result.err())
                .contains("the build failed", "fault of this build")
                .doesNotContain("old build");
        assertThat(result.code()).isEqualTo(1);
        // a log that cannot be written
        Files.delete(log);
        Files.createDirectory(log);
        Files.writeString(log.resolve("x"), "fault of an old build");
        Result unwritable = launch(checkout, "");
        assertThat(unwritable.err())
                .contains("the build must write", "TENON_NO_BUILD=1")
                .doesNotContain("fault");
        assertThat(unwritable.code()).isEqualTo(1);
    }

    @Test
    void buildRunsOnceAndItsLogIsKept() throws Exception {
        Path checkout = checkout("mkdir -p '" + folder.resolve("checkout/tenon-cli/target/dist/lib") + "'; echo built");
        Result first = launch(checkout, "", "doctor");
        assertThat(first.err()).contains("building");
        assertThat(first.out()).contains("[doctor]");
        assertThat(Files.readString(checkout.resolve("target/build.log"))).startsWith("built");
        assertThat(launch(checkout, "", "doctor").err()).isEmpty();
    }
}
