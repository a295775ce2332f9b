package dev.tenon.cli.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Changed files from fixed seeds: whatever they hold, they are refused with an exception of ours or give right answers.
 * {@code -Dtenon.fuzz.seconds} is the time for all of them together.
 */
final class FuzzTest {
    private static final double SECONDS = Integer.getInteger("tenon.fuzz.seconds", 7);
    private static final Path RESOURCES = Path.of("../tenon-formats/src/test/resources");
    private static final List<Path> MODELS = List.of(RESOURCES.resolve("cases"), RESOURCES.resolve("onnx"));

    @Test
    void models() throws IOException, InterruptedException {
        try (OnnxTarget target = new OnnxTarget(MODELS)) {
            check(target, SECONDS * 2 / 3);
        }
    }

    @Test
    void tokenizers() throws InterruptedException {
        check(new TokenizerTarget(), SECONDS / 6);
    }

    @Test
    void arrays() throws InterruptedException {
        check(new NpyTarget(), SECONDS / 6);
    }

    private static void check(Target target, double seconds) throws InterruptedException {
        Fuzzer fuzzer = new Fuzzer(target);
        fuzzer.run(1, Long.MAX_VALUE / 2, seconds);
        System.out.println("fuzz: " + target.name() + " " + fuzzer.count() + " files, " + fuzzer.outcomes());
        assertThat(fuzzer.findings()).isEmpty();
        assertThat(fuzzer.count()).isGreaterThan(100);
    }

    /**
     * By hand: the target, the first file's number, how many files, for how many seconds at most, and the folder of
     * seeds for models. Prints what became of them and every finding.
     */
    static final class Campaign {
        private Campaign() {}

        public static void main(String[] args) throws IOException, InterruptedException {
            Target target = switch (args[0]) {
                case "onnx" -> new OnnxTarget(args.length > 4 ? List.of(Path.of(args[4])) : MODELS);
                case "tokenizer" -> new TokenizerTarget();
                default -> new NpyTarget();
            };
            Fuzzer fuzzer = new Fuzzer(target);
            long start = System.nanoTime();
            fuzzer.run(Long.parseLong(args[1]), Long.parseLong(args[2]), Double.parseDouble(args[3]));
            System.out.printf(
                    "%s: %d files in %.0f s%n", target.name(), fuzzer.count(), (System.nanoTime() - start) / 1e9);
            fuzzer.outcomes().forEach((outcome, count) -> System.out.println("  " + count + " " + outcome));
            fuzzer.findings().stream().limit(50).forEach(System.out::println);
            System.exit(fuzzer.findings().isEmpty() ? 0 : 1);
        }
    }
}
