package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What gives memory or threads back when something fails does so for errors too: an exhausted heap is one. */
final class CleanUpTest {
    /** A handler for exceptions alone whose last statement throws on what it caught. */
    private static final Pattern EXCEPTIONS_ALONE =
            Pattern.compile("catch \\(RuntimeException (\\w+)\\) \\{((?:[^{}]|\\{[^{}]*})*?)throw \\1;\\s*}");

    @Test
    void handlersThatThrowOnCatchErrorsToo() throws IOException {
        List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.find(
                Path.of(".."),
                14,
                (file, attributes) -> file.toString().endsWith(".java")
                        && file.toString().contains("/src/main/")
                        && !file.toString().contains("/cuda/check/"))) {
            for (Path file : files.toList()) {
                Matcher handler = EXCEPTIONS_ALONE.matcher(Files.readString(file));
                while (handler.find()) {
                    found.add(file + ": " + handler.group().lines().findFirst().orElse(""));
                }
            }
        }
        // Kept keeps exceptions and no errors, by design
        found.removeIf(each -> each.contains("Kept.java"));
        assertThat(found).isEmpty();
    }
}
