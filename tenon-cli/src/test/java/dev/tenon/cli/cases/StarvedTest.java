package dev.tenon.cli.cases;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An exhausted heap is survivable: {@code -Dtenon.starved.seconds=600} for longer. */
final class StarvedTest {
    private static final int SECONDS = Integer.getInteger("tenon.starved.seconds", 4);
    private static final int THREADS = 8;
    private static final int PIECE_KIB = 256;

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "emulator"})
    void fullHeapFromTheFirstUseOnLeavesNothingBroken(String device) throws IOException, InterruptedException {
        List<String> arguments = List.of(device, "" + SECONDS, "" + THREADS, "" + PIECE_KIB);
        try (Jvm jvm = Jvm.start(Starved.class, Map.of(), true, arguments, "-Xmx64m")) {
            Jvm.Result result = jvm.await(SECONDS + 180);
            System.out.println(device + " " + result.out().lines().reduce("", (a, b) -> a + b + "; "));
            assertThat(result.crashed()).isFalse();
            assertThat(result.code()).isZero();
            assertThat(result.out().lines())
                    .anyMatch(line -> line.matches("starved: [0-9]+ right, [0-9]+ refused, faults \\{\\}"))
                    .contains("recovered: 40 right of 40, faults {}");
        }
    }
}
