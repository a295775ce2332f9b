package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code allreduce} and {@code bench allreduce}. */
final class AllReduceTest {
    @TempDir
    Path folder;

    @Test
    void showsEveryStep() {
        String out =
                Cli.run("allreduce", "--world", "3", "--length", "3").succeeds().out();
        assertThat(out)
                .containsSubsequence(
                        "start: rank 0 has [10, 20, 30]",
                        "start: rank 1 has [1, 2, 3]",
                        "start: rank 2 has [4, 5, 6]",
                        "scatter-reduce, step 1 of 2",
                        "rank 0 sends chunk 0 [10] to rank 1",
                        "rank 1 sends chunk 1 [2] to rank 2",
                        "rank 2 sends chunk 2 [6] to rank 0",
                        "after: rank 0 has [10, 20, 36]",
                        "scatter-reduce, step 2 of 2",
                        "all-gather, step 1 of 2",
                        "all-gather, step 2 of 2",
                        "after: rank 2 has [15, 27, 39]",
                        "every rank has [15, 27, 39]");
    }

    @Test
    void asObjects() throws Exception {
        List<Map<String, Object>> objects = Cli.run("allreduce", "--world", "4", "--length", "6", "--json")
                .succeeds()
                .objects();
        assertThat(objects).hasSize(1 + 2 * 3 + 1);
        assertThat(objects.get(1)).containsEntry("phase", "scatter-reduce").containsEntry("step", 1.0);
        assertThat((List<?>) objects.get(1).get("transfers")).hasSize(4);
        assertThat(objects.getLast()).containsEntry("result", List.of(31.0, 44.0, 57.0, 70.0, 83.0, 96.0));
        assertThat((List<?>) objects.get(6).get("vectors"))
                .allMatch(vector -> vector.equals(objects.getLast().get("result")));
    }

    @Test
    void drawsItself() throws Exception {
        Path file = folder.resolve("ring.svg");
        Cli.run("allreduce", "--world", "4", "--length", "7", "--svg", file.toString())
                .succeeds();
        assertThat(Files.readString(file)).doesNotContain("href", "url(http", "<script");
        var svg = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
        assertThat(svg.getElementsByTagName("line").getLength()).as("arrows").isEqualTo(2 * 3 * 4);
    }

    @Test
    void awkwardWorlds() {
        assertThat(Cli.run("allreduce", "--world", "1", "--length", "2")
                        .succeeds()
                        .out())
                .contains("every rank has [10, 20]");
        assertThat(Cli.run("allreduce", "--world", "5", "--length", "0")
                        .succeeds()
                        .out())
                .contains("every rank has []");
        Cli.run("allreduce", "--world", "0").isMisused("--world", "1 to 16");
        Cli.run("allreduce", "--length", "65").isMisused("--length", "0 to 64");
        Cli.run("allreduce", "--world", "three").isMisused("three");
    }

    @Test
    void bench() throws Exception {
        List<Map<String, Object>> objects = Cli.run(
                        "bench", "allreduce", "--shapes", "2x33,3x0", "--runs", "2", "--seconds", "0", "--json")
                .succeeds()
                .objects();
        assertThat(objects).hasSize(8).allSatisfy(object -> {
            assertThat(object).containsEntry("bench", "allreduce").containsEntry("device", "cpu");
            assertThat((double) object.get("min_us")).isPositive().isLessThanOrEqualTo((double)
                    object.get("median_us"));
            assertThat((double) object.get("median_us")).isLessThanOrEqualTo((double) object.get("p95_us"));
            assertThat((double) object.get("p95_us")).isLessThanOrEqualTo((double) object.get("max_us"));
        });
        assertThat(objects.stream().map(object -> object.get("variant")))
                .containsExactly("auto", "ring", "direct", "doubling", "auto", "ring", "direct", "doubling");
        Map<?, ?> params = (Map<?, ?>) objects.getFirst().get("params");
        assertThat(params.get("world")).isEqualTo(2.0);
        assertThat(params.get("length")).isEqualTo(33.0);
        // both ranks send and receive the vector once: half of it in each of two steps
        assertThat((double) objects.getFirst().get("bus_gb_s"))
                .isEqualTo((double) objects.getFirst().get("gb_s"));
        Cli.run("bench", "allreduce", "--shapes", "4").isMisused("WORLDxLENGTH");
        Cli.run("bench", "allreduce", "--shapes", "0x4").isMisused("WORLDxLENGTH");
        Cli.run("bench", "allreduce", "--shapes", "5000x4").isMisused("'5000x4'", "1 to 4096 ranks");
        Cli.run("bench", "allreduce", "--shapes", "2x-4").isMisused("WORLDxLENGTH");
    }

    @Test
    void optionsThatDoNotApply() {
        for (String[] option : new String[][] {{"--world", "2"}, {"--sizes", "1024"}}) {
            Cli.run("bench", "allreduce", option[0], option[1])
                    .isMisused(option[0] + " does not apply to --device cpu");
        }
        for (String[] option :
                new String[][] {{"--shapes", "2x8"}, {"--variants", "ring"}, {"--runs", "2"}, {"--seconds", "0"}}) {
            Cli.run("bench", "allreduce", "--device", "cuda", option[0], option[1])
                    .isMisused(option[0] + " does not apply to --device cuda");
        }
    }

    @Test
    void withoutAGpuNoOptionIsToBlame() {
        Cli cli = Cli.run("bench", "allreduce", "--device", "cuda", "--sizes", "1024");
        assumeTrue(cli.code() != 0, "there is a GPU");
        assertThat(cli.fails("cuda: no device: ").err()).doesNotContain("--world");
    }
}
