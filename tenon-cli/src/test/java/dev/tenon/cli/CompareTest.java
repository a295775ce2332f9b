package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** {@code tenon compare}. */
class CompareTest {
    @Test
    void everyNodeOfAModelIsCompared() throws IOException {
        List<Map<String, Object>> objects = Cli.run(
                        "compare", Cli.MINI_LM.toString(), "--device", "cpu", "--dim", "sequence_length=3", "--json")
                .succeeds()
                .objects();
        Map<String, Object> total = objects.removeLast();
        assertThat(((Number) total.get("results")).intValue()).isEqualTo(objects.size());
        assertThat(((Number) total.get("beyond_rounding")).intValue()).isZero();
        assertThat(objects).allSatisfy(one -> assertThat(one.get("fits")).isEqualTo(true));
        assertThat(objects.stream().map(one -> one.get("op"))).contains("mat_mul", "softmax");
    }

    @Test
    void tableEndsWithTheVerdict() {
        assertThat(Cli.run("compare", Cli.MINI_LM.toString(), "--device", "cpu")
                        .succeeds()
                        .out())
                .contains("rounding explains all of ", "output last_hidden_state: ");
    }

    @Test
    void aDimThatNoInputHasIsSaid() {
        Cli.run("compare", Cli.MINI_LM.toString(), "--device", "cpu", "--dim", "colour=3")
                .fails("colour");
    }
}
