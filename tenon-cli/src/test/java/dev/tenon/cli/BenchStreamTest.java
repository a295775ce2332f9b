package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BenchStreamTest {
    @BeforeEach
    void modelIsThere() {
        assumeTrue(Files.exists(Cli.MINI_LM), "no MiniLM in " + Cli.MODELS);
    }

    private static String out(String... more) {
        List<String> arguments = new ArrayList<>(List.of("bench", "stream", "--device", "cpu"));
        arguments.addAll(List.of("--count", "6", "--passes", "2"));
        arguments.addAll(List.of("--shapes-from", "batch_size=1,sequence_length=5..60"));
        arguments.addAll(List.of(more));
        return Cli.run(arguments.toArray(String[]::new)).succeeds().out();
    }

    @Test
    void slowestSizesSayWhereTheirTimeWent() {
        assertThat(out("--slowest", "2", "--json"))
                .contains("\"plan_median_us\"", "\"slowest\"", "\"library_plans\"", "\"collector_ms\"");
        assertThat(out("--slowest", "1")).contains("median", "libraries", "modules");
    }

    @Test
    void nothingIsSaidOfSlowSizesUnasked() {
        assertThat(out("--json")).contains("\"plan_median_us\"").doesNotContain("slowest");
        assertThat(out()).contains("a new size, median").doesNotContain("libraries");
    }
}
