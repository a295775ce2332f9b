package dev.tenon.cli.cases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cli.cases.ModelCases.ModelCase;
import dev.tenon.core.runtime.Target;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * RP-01 to RP-05, PL-02, OX-05 and the hostile files: each on the interpreter, on the CPU backend with vectors and
 * without, on the emulator, and on a GPU where there is one.
 */
final class ModelCasesTest {
    static Stream<Arguments> everyCaseEverywhere() {
        return ModelCases.all().stream()
                .flatMap(one -> Stream.of(Executor.values()).map(executor -> Arguments.of(one, executor)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void everyCaseEverywhere(ModelCase one, Executor executor) {
        Assumptions.assumeTrue(executor.isThere(), () -> executor + " skipped: " + Target.unavailable());
        one.check().accept(executor);
    }

    /** The child of {@link #withoutVectors}. */
    static final class PlainLoops {
        public static void main(String[] args) {
            for (ModelCase one : ModelCases.all()) {
                try {
                    one.check().accept(Executor.CPU);
                    System.out.println("passes: " + one.name());
                } catch (AssertionError | RuntimeException e) {
                    System.out.println("fails: " + one.name() + ": " + e);
                }
            }
        }
    }

    @Test
    void withoutVectors() throws Exception {
        try (Jvm jvm = Jvm.start(PlainLoops.class, Map.of(), false, "-Xmx512m")) {
            Jvm.Result result = jvm.await(120);
            List<String> expected = ModelCases.all().stream()
                    .map(one -> "passes: " + one.name())
                    .toList();
            assertThat(result.out().lines()).containsExactlyElementsOf(expected);
            assertThat(result.code()).isZero();
        }
    }
}
