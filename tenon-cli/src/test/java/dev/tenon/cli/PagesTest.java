package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages that commands write, as text and as a browser shows them. */
class PagesTest {
    private static final List<String> PROFILE =
            List.of("profile", "--device", "cpu", "--dim", "sequence_length=64", "--runs", "3", "--html");
    private static final List<String> EXPLAIN =
            List.of("explain", "--device", "cpu", "--dim", "sequence_length=8", "--html");

    @TempDir
    Path folder;

    private Path page(List<String> command) throws IOException {
        Path page = folder.resolve("page.html");
        List<String> arguments = new ArrayList<>(command);
        arguments.add(page.toString());
        Cli result = Cli.run(arguments.toArray(String[]::new)).succeeds();
        assertThat(result.out()).contains("wrote " + page);
        return page;
    }

    private static int count(String text, String pattern) {
        return (int) Pattern.compile(pattern).matcher(text).results().count();
    }

    @Test
    void nothingIsFetched() throws IOException {
        for (List<String> command : List.of(PROFILE, EXPLAIN)) {
            String text = Files.readString(page(command));
            assertThat(text).startsWith("<!doctype html>").contains("name=\"viewport\"");
            assertThat(text).doesNotContain("http:", "https:", "src=", "@import", "url(");
        }
    }

    @Test
    void profileHasEveryStepInTheTableAndOnTheTimeLine() throws IOException {
        String text = Files.readString(page(PROFILE));
        int slices = count(text, "<rect class=\"slice\"[^>]* data-step=");
        assertThat(slices).isGreaterThan(40).isEqualTo(count(text, "<tr data-step="));
        assertThat(text).contains("Kinds of steps, the slowest first", ">worker ", "GFLOP/s");
    }

    @Test
    void searchHidesOtherRows() throws IOException, InterruptedException {
        Optional<Path> chromium = Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .map(place -> Path.of(place, "chromium"))
                .filter(Files::isExecutable)
                .findFirst();
        if (chromium.isEmpty()) {
            System.out.println("pages skipped (1 test): no chromium on the PATH; install Debian's chromium");
        }
        Assumptions.assumeTrue(chromium.isPresent(), "no chromium");
        for (List<String> command : List.of(PROFILE, EXPLAIN)) {
            String address = page(command).toUri() + "#plain_attention%20encoder";
            Process browser = new ProcessBuilder(
                            chromium.orElseThrow().toString(),
                            "--headless",
                            "--no-sandbox",
                            "--disable-gpu",
                            "--user-data-dir=" + folder.resolve("browser"),
                            "--dump-dom",
                            address)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String shown = new String(browser.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(browser.waitFor()).isZero();
            int rows = count(shown, "<tr[^>]* data-detail=");
            int hidden = count(shown, "<tr[^>]* data-detail=\"[^\"]*\"[^>]* hidden=");
            assertThat(rows - hidden).as("the attention of each layer").isEqualTo(6);
            assertThat(shown).contains(">6 rows<");
        }
    }
}
