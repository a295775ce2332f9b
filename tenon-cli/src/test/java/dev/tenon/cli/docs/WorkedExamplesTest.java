package dev.tenon.cli.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * That the examples of the documents on operations and kernels work as they stand, and touch the files that they name
 * and no others.
 */
class WorkedExamplesTest {
    private static final int FUNCTION_FILES = 4;
    private static final int COMPOSITE_FILES = 2;
    private static final int PRIMITIVE_FILES = 9;

    private static Path repository() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/adding-an-op.md"))) {
            folder = Objects.requireNonNull(folder.getParent(), "no docs/adding-an-op.md around the working directory");
        }
        return folder;
    }

    private static List<WorkedExample> examples(String document) throws IOException {
        return WorkedExample.of(Files.readString(repository().resolve("docs").resolve(document)));
    }

    @Test
    void headingsStateTheFilesThatAreTouched() throws IOException {
        List<WorkedExample> operations = examples("adding-an-op.md");
        List<WorkedExample> kernels = examples("adding-a-kernel.md");
        assertThat(operations).hasSize(3);
        assertThat(kernels).hasSize(1);
        Stream.concat(operations.stream(), kernels.stream())
                .forEach(example ->
                        assertThat(example.files()).as(example.title()).isEqualTo(example.statedFiles()));
        assertThat(operations.get(0).files()).isLessThanOrEqualTo(FUNCTION_FILES);
        assertThat(operations.get(1).files()).isEqualTo(COMPOSITE_FILES);
        long primitive = Stream.of(operations.get(2), kernels.getFirst())
                .flatMap(example -> example.edits().stream())
                .map(WorkedExample.Edit::file)
                .distinct()
                .count();
        assertThat(primitive).isLessThanOrEqualTo(PRIMITIVE_FILES);
    }

    @Test
    void everyNamedFileIsAnEditOfAnExample() throws IOException {
        for (String document : List.of("adding-an-op.md", "adding-a-kernel.md")) {
            long named = Files.readAllLines(repository().resolve("docs").resolve(document)).stream()
                    .filter(line -> line.startsWith("**`"))
                    .count();
            assertThat(examples(document).stream()
                            .mapToLong(example -> example.edits().size())
                            .sum())
                    .as(document)
                    .isEqualTo(named);
        }
    }

    /** All edits in one copy, which is compiled once: files that two examples name must bear both. */
    @Test
    void examplesCompileAndAgreeWithFloat64(@TempDir Path folder) throws IOException, InterruptedException {
        List<WorkedExample> examples = new ArrayList<>(examples("adding-an-op.md"));
        examples.addAll(examples("adding-a-kernel.md"));
        SourceCopy copy = new SourceCopy(repository(), folder);
        for (WorkedExample example : examples) {
            for (WorkedExample.Edit edit : example.edits()) {
                copy.apply(edit);
            }
        }
        copy.compile();
        String output = replay(copy);
        assertThat(output)
                .containsPattern("log_sigmoid: [1-9]\\d* cases")
                .containsPattern("cosine_similarity: [1-9]\\d* cases")
                .containsPattern("squared_distances: [1-9]\\d* cases")
                .contains("cpu: 3 graphs");
        assertThat(output).containsPattern("emulator:0: 3 graphs|emulator: skipped");
    }

    private static String replay(SourceCopy copy) throws IOException, InterruptedException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx1g",
                "-cp",
                copy.classPath(),
                Replay.class.getName());
        // the catalog's test looks for kernels from its module's folder
        Process process = new ProcessBuilder(command)
                .directory(copy.folderOf("tenon-cuda").toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        System.out.println(output);
        return output;
    }
}
