package dev.tenon.cli.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.emulator.EmulatorCompiler;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A document of docs/ whose files ({@code **`Name.java`**:} before a block) make a program, {@code Example}, which prints
 * what the document says that it prints, on the CPU and on the emulator.
 */
final class RunnableExample {
    private static final Pattern FILE =
            Pattern.compile("\\*\\*`([\\w.]+)`\\*\\*:\n\n```\\w+\n(.*?)```", Pattern.DOTALL);
    private static final Pattern OUTPUT = Pattern.compile("What it prints:\n\n```text\n(.*?)```", Pattern.DOTALL);

    private final String document;

    RunnableExample(String name) throws IOException {
        document = Files.readString(Path.of("..", "docs", name));
    }

    private static String classPath(Path folder) {
        return folder
                + File.pathSeparator
                + Stream.of("java.class.path", "jdk.module.path")
                        .map(name -> System.getProperty(name, ""))
                        .filter(places -> !places.isEmpty())
                        .collect(Collectors.joining(File.pathSeparator));
    }

    void check(Path folder, String... names) throws IOException, InterruptedException {
        Map<String, String> files = new LinkedHashMap<>();
        Matcher file = FILE.matcher(document);
        while (file.find()) {
            files.put(file.group(1), file.group(2));
            Files.writeString(folder.resolve(file.group(1)), file.group(2));
        }
        assertThat(files.keySet()).containsExactly(names);
        assertThat(compile(folder, files)).isEmpty();
        Matcher output = OUTPUT.matcher(document);
        assertThat(output.find()).isTrue();
        assertThat(run(folder, "cpu")).isEqualTo(output.group(1));
        if (new EmulatorCompiler(true).unavailable().isEmpty()) {
            assertThat(run(folder, "emulator")).isEqualTo(output.group(1));
        } else {
            System.out.println("emulator: skipped, " + new EmulatorCompiler(true).unavailable());
        }
    }

    private static String compile(Path folder, Map<String, String> files) {
        List<String> arguments =
                new ArrayList<>(List.of("-proc:none", "-classpath", classPath(folder), "-d", folder.toString()));
        files.keySet().stream()
                .filter(name -> name.endsWith(".java"))
                .forEach(name -> arguments.add(folder.resolve(name).toString()));
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        int status = ToolProvider.findFirst("javac").orElseThrow().run(out, out, arguments.toArray(String[]::new));
        return status == 0 ? "" : said.toString();
    }

    private static String run(Path folder, String device) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        classPath(folder),
                        "Example",
                        device)
                .redirectError(folder.resolve("errors").toFile())
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor())
                .as(Files.readString(folder.resolve("errors")))
                .isZero();
        return output;
    }
}
