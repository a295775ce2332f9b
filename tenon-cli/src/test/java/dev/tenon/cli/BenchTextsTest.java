package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tenon bench texts}, {@code requests}, {@code callers} and {@code stream}, with little to do. */
final class BenchTextsTest {
    @TempDir
    private Path folder;

    @BeforeEach
    void modelIsThere() {
        assumeTrue(Files.exists(Cli.MINI_LM), "no MiniLM in " + Cli.MODELS);
    }

    @Test
    void texts() throws IOException {
        Path saved = folder.resolve("texts.txt");
        Map<String, Object> object = Cli.run(
                        "bench",
                        "texts",
                        "--device",
                        "cpu",
                        "--count",
                        "5",
                        "--words",
                        "2..4",
                        "--passes",
                        "2",
                        "--save",
                        saved.toString(),
                        "--json")
                .succeeds()
                .objects()
                .getFirst();
        assertThat(object).containsEntry("bench", "texts").containsEntry("texts", 5.0);
        assertThat((List<?>) object.get("pass_s")).hasSize(2);
        assertThat(Files.readAllLines(saved))
                .hasSize(5)
                .allSatisfy(text -> assertThat(text.split(" ")).hasSizeBetween(2, 4));
        assertThat(Cli.run("bench", "texts", "--device", "cpu", "--texts", saved.toString(), "--passes", "1")
                        .succeeds()
                        .out())
                .contains("load", "pass 1", "5 texts");
    }

    @Test
    void callers() throws IOException {
        List<Map<String, Object>> objects = Cli.run(
                        "bench",
                        "callers",
                        "--device",
                        "cpu",
                        "--callers",
                        "1,5",
                        "--shape",
                        "1x4",
                        "--seconds",
                        "0.3",
                        "--json")
                .succeeds()
                .objects();
        assertThat(objects).extracting(object -> object.get("callers")).containsExactly(1.0, 5.0);
        assertThat(objects).allSatisfy(object -> {
            assertThat((double) object.get("runs_per_s")).isPositive();
            assertThat((double) object.get("p99_us")).isGreaterThanOrEqualTo((double) object.get("median_us"));
            assertThat((double) object.get("p99_turns")).isPositive();
        });
    }

    @Test
    void stream() {
        String[] args = {
            "bench",
            "stream",
            "--device",
            "cpu",
            "--count",
            "3",
            "--passes",
            "3",
            "--shapes-from",
            "batch_size=1..2,sequence_length=2..9"
        };
        assertThat(Cli.run(args).succeeds().out())
                .contains("pass 3", "a new size, most", "The first run of all took", "3 runs a pass, ");
    }

    @Test
    void everyRequestIsAnswered() throws IOException {
        Map<String, Object> object = Cli.run(
                        "bench",
                        "requests",
                        "--device",
                        "cpu",
                        "--clients",
                        "8",
                        "--seconds",
                        "0.5",
                        "--words",
                        "2",
                        "--json")
                .succeeds()
                .objects()
                .getFirst();
        assertThat(object)
                .containsEntry("bench", "requests")
                .containsEntry("clients", 8.0)
                .containsEntry("refused", 0.0)
                .containsEntry("lost", 0.0);
        assertThat((double) object.get("requests")).isGreaterThanOrEqualTo(8);
        assertThat((double) object.get("texts_per_s")).isPositive();
        assertThat((double) object.get("p99_us")).isGreaterThanOrEqualTo((double) object.get("median_us"));
    }

    @Test
    void moreClientsThanMayWaitAskAgain() {
        String out = Cli.run(
                        "bench", "requests", "--device", "cpu", "--clients", "1400", "--seconds", "0.5", "--words", "1")
                .succeeds()
                .out();
        assertThat(out).contains("1400 clients", " refused, 0 lost");
    }
}
