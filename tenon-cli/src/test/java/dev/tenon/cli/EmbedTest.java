package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code embed} takes, assumes and says. */
class EmbedTest {
    private static final String LONG = "word ".repeat(200);

    @TempDir
    Path folder;

    private static Cli embed(String... args) {
        List<String> all = new ArrayList<>(List.of("embed", "--json", "--device", "cpu"));
        all.addAll(List.of(args));
        return Cli.run(all.toArray(String[]::new));
    }

    private static Cli withInput(byte[] input, String... args) {
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(input));
        try {
            return embed(args);
        } finally {
            System.setIn(before);
        }
    }

    @SuppressWarnings("unchecked") // a vector is a list of numbers
    private static List<Double> vector(Cli cli) throws IOException {
        assertThat(cli.code()).as(cli.err()).isZero();
        return (List<Double>) cli.objects().getFirst().get("vector");
    }

    /** The same but for the order of sums: loops change once vector code is compiled. */
    private static void assertSame(List<Double> actual, List<Double> expected) {
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < actual.size(); i++) {
            assertThat(actual.get(i)).as("element %d", i).isCloseTo(expected.get(i), within(1e-5));
        }
    }

    /** The default model in a folder with the layout of sentence-transformers. */
    private Path layout() throws IOException {
        Path onnx = Files.createDirectory(folder.resolve("onnx"));
        Files.createSymbolicLink(onnx.resolve("model.onnx"), Cli.MINI_LM.toAbsolutePath());
        Files.createSymbolicLink(
                folder.resolve("tokenizer.json"),
                Cli.MODELS.resolve("all-minilm-l6-v2-tokenizer.json").toAbsolutePath());
        Files.writeString(folder.resolve("modules.json"), """
                [{"idx":0,"name":"0","path":"","type":"sentence_transformers.models.Transformer"},
                 {"idx":1,"name":"1","path":"1_Pooling","type":"sentence_transformers.models.Pooling"},
                 {"idx":2,"name":"2","path":"2_Normalize","type":"sentence_transformers.models.Normalize"}]
                """);
        Files.writeString(
                folder.resolve("sentence_bert_config.json"), "{\"max_seq_length\":256,\"do_lower_case\":false}");
        Files.createDirectory(folder.resolve("1_Pooling"));
        return Files.writeString(
                folder.resolve("1_Pooling/config.json"),
                "{\"pooling_mode_cls_token\":true,\"pooling_mode_mean_tokens\":false}");
    }

    @Test
    void noTextsIsWrongUsage() {
        withInput(new byte[0]).isMisused("give at least one text");
    }

    @Test
    void linesOfStandardInputAreTexts() throws IOException {
        Cli cli = withInput("模型\nsecond\n".getBytes(StandardCharsets.UTF_8)).succeeds();
        assertThat(cli.objects()).extracting(object -> object.get("text")).containsExactly("模型", "second");
    }

    @Test
    void standardInputThatIsNotUtf8IsRefused() {
        withInput(new byte[] {'o', 'k', '\n', 'b', (byte) 0xE9, '\n'})
                .fails("standard input", "line 2", "0xe9", "UTF-8");
    }

    @Test
    void blankTextIsNamed() {
        embed("fine", "  ").fails("index 1", "blank");
    }

    @Test
    void cutTextsAreCountedAndSplitOnesAreNot() throws IOException {
        Cli cut = embed("short", LONG);
        assertThat(cut.code()).isZero();
        assertThat(cut.err().lines()).singleElement().asString().contains("1 of 2 texts", "128 tokens", "--long split");
        Cli split = embed("--long", "split", LONG).succeeds();
        assertThat(vector(split)).isNotEqualTo(cut.objects().get(1).get("vector"));
    }

    @Test
    void assumptionsAreSaidOnceWithTheirOptions() {
        Cli cli = embed("--model", Cli.MINI_LM.toString(), "one", "two");
        assertThat(cli.code()).isZero();
        assertThat(cli.err().lines())
                .singleElement()
                .asString()
                .contains("mean pooling (--pooling)", "128 tokens", "(--max-tokens)", "(--no-normalize)");
    }

    @Test
    void folderDoesWhatItsFilesSay() throws IOException {
        layout();
        Cli cli = embed("--model", folder.toString(), "a text").succeeds();
        List<Double> files = vector(cli);
        Cli same = embed("--model", Cli.MINI_LM.toString(), "--pooling", "cls", "a text");
        assertSame(files, vector(same));
        assertSame(
                vector(embed("--model", folder.resolve("onnx/model.onnx").toString(), "a text")
                        .succeeds()),
                files);
        Cli cut = embed("--model", folder.toString(), "word ".repeat(300));
        assertThat(cut.err()).contains("1 of 1 text cut at 256 tokens");
        assertSame(
                vector(embed("--model", folder.toString(), "--pooling", "mean", "--max-tokens", "128", LONG)),
                vector(embed(LONG)));
        assertSame(
                vector(embed("--model", Cli.MINI_LM.toString(), "--config", folder.toString(), "a text")
                        .succeeds()),
                files);
    }

    @Test
    void dimensionsAreCutAndScaledAgain() throws IOException {
        List<Double> vector = vector(embed("--dimensions", "64", "a text").succeeds());
        assertThat(vector).hasSize(64);
        assertThat(vector.stream().mapToDouble(x -> x * x).sum()).isCloseTo(1, within(1e-5));
        embed("--dimensions", "385", "a text").fails("384 dimensions", "385");
    }

    @Test
    void promptsStandBeforeTexts() throws IOException {
        assertSame(vector(embed("--prompt", "query: ", "a text").succeeds()), vector(embed("query: a text")));
        embed("--prompt", "query", "a text").fails("no prompt \"query\"");
    }

    @Test
    void vectorsAreScaledUnlessTheyShallNot() throws IOException {
        double squares = vector(embed("--no-normalize", "a text").succeeds()).stream()
                .mapToDouble(x -> x * x)
                .sum();
        assertThat(squares).isGreaterThan(2);
    }

    @Test
    void valuesThatAreNotPossibleAreWrongUsage() {
        for (Map.Entry<String, String> option : Map.of(
                        "--pooling", "median", "--long", "fold", "--dimensions", "0", "--max-tokens", "2")
                .entrySet()) {
            embed(option.getKey(), option.getValue(), "a").isMisused(option.getKey(), option.getValue());
        }
    }
}
