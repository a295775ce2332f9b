package dev.tenon.models.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.runtime.Target;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The sentence-transformers files of a model whose vectors are known: "a" is token 4, [CLS] 2, [SEP] 3; a token's
 * vector is (i, i², 1).
 */
class SentenceFilesTest {
    private static final EncoderOptions RAW = EncoderOptions.defaults().withNormalise(false);
    private static final String TRANSFORMER =
            "{\"idx\":0,\"name\":\"0\",\"path\":\"\",\"type\":\"sentence_transformers.models.Transformer\"}";

    @TempDir
    Path folder;

    private Path model;

    @BeforeEach
    void files() throws IOException {
        model = TinyModel.write(folder.resolve("onnx/model.onnx"), 3);
        TinyModel.tokenizer(folder.resolve("tokenizer.json"), "null");
    }

    private void modules(String... more) throws IOException {
        write("modules.json", "[" + String.join(",", List.of(TRANSFORMER, String.join(",", more))) + "]");
    }

    private static String module(String kind, String path) {
        return "{\"idx\":1,\"name\":\"1\",\"path\":\"" + path + "\",\"type\":\"sentence_transformers.models." + kind
                + "\"}";
    }

    private void write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private void pooling(String config) throws IOException {
        modules(module("Pooling", "1_Pooling"));
        write("1_Pooling/config.json", config);
    }

    private float[] vector(EncoderOptions options, String text) {
        try (EmbeddingEncoder encoder = EmbeddingEncoder.load(folder, Target.cpu(), options)) {
            return encoder.encode(text);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "pooling_mode_cls_token, 2, 4",
        "pooling_mode_max_tokens, 5, 25",
        "pooling_mode_mean_tokens, 3.5, 13.5",
        "pooling_mode_mean_sqrt_len_tokens, 7, 27",
        "pooling_mode_weightedmean_tokens, 3.7, 14.7",
        "pooling_mode_lasttoken, 3, 9"
    })
    void eachPoolingSwitchIsFollowed(String mode, float first, float second) throws IOException {
        // [CLS] a b [SEP]: 2 4 5 3
        String off = mode.contains("_mean_tokens") ? "" : "\"pooling_mode_mean_tokens\":false,";
        pooling("{\"word_embedding_dimension\":3," + off + "\"" + mode + "\":true}");
        float[] vector = vector(RAW, "a b");
        assertThat(vector[0]).isCloseTo(first, within(1e-5f));
        assertThat(vector[1]).isCloseTo(second, within(1e-5f));
    }

    @Test
    void severalModesAreConcatenatedInTheReferencesOrder() throws IOException {
        pooling("{\"pooling_mode_mean_tokens\":true,\"pooling_mode_max_tokens\":true,\"pooling_mode_cls_token\":true}");
        assertThat(vector(RAW, "a b")).containsExactly(2, 4, 1, 5, 25, 1, 3.5f, 13.5f, 1);
    }

    @Test
    void newerPoolingNamesAreRead() throws IOException {
        pooling("{\"pooling_mode\":\"lasttoken\"}");
        assertThat(vector(RAW, "a b")).containsExactly(3, 9, 1);
        pooling("{\"pooling_mode\":[\"cls\",\"mean\"]}");
        assertThat(vector(RAW, "a b")).containsExactly(2, 4, 1, 3.5f, 13.5f, 1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"pooling_mode\":\"median\"}",
                "{\"pooling_mode_mean_tokens\":false}",
                "{\"pooling_mode_median\":true}",
                "{\"pooling_mode_cls_token\":1}",
                "[]",
                "{"
            })
    void wrongPoolingIsAnErrorThatNamesTheFile(String config) throws IOException {
        pooling(config);
        assertThatThrownBy(() -> vector(RAW, "a"))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("1_Pooling");
    }

    @Test
    void normalizeAndDenseFollowPooling() throws IOException {
        modules(module("Pooling", "1_Pooling"), module("Dense", "2_Dense"), module("Normalize", "3_Normalize"));
        write("1_Pooling/config.json", "{\"pooling_mode_cls_token\":true,\"pooling_mode_mean_tokens\":false}");
        write(
                "2_Dense/config.json",
                "{\"in_features\":3,\"out_features\":2,\"bias\":true,\"activation_function\":\"torch.nn.modules.linear.Identity\"}");
        // y = (x0 + 1, x1)
        dense(new float[] {1, 0, 0, 0, 1, 0}, new float[] {1, 0});
        assertThat(vector(EncoderOptions.defaults(), "a b")).containsExactly(0.6f, 0.8f);
        assertThat(vector(RAW, "a b")).containsExactly(3, 4);
        assertThat(vector(RAW.withDimensions(1), "a b")).containsExactly(3);
        assertThat(vector(EncoderOptions.defaults().withDimensions(1), "a b")).containsExactly(1);
        assertThatThrownBy(() -> vector(RAW.withDimensions(3), "a"))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("2 dimensions");
        assertThatThrownBy(() -> vector(RAW.withPooling(Pooling.CLS).withMaxTokens(2), "a"))
                .isInstanceOf(TenonException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "torch.nn.modules.activation.Tanh, 0.9950547536867305",
        "torch.nn.modules.activation.ReLU, 3",
        "torch.nn.modules.activation.Sigmoid, 0.9525741268224334"
    })
    void activationsOfDense(String name, double expected) throws IOException {
        modules(module("Pooling", "1_Pooling"), module("Dense", "2_Dense"));
        write("1_Pooling/config.json", "{\"pooling_mode_cls_token\":true,\"pooling_mode_mean_tokens\":false}");
        write("2_Dense/config.json", "{\"in_features\":3,\"out_features\":2,\"activation_function\":\"" + name + "\"}");
        dense(new float[] {1, 0, 0, 0, -1, 0}, new float[] {1, 0});
        float[] vector = vector(EncoderOptions.defaults(), "a");
        assertThat((double) vector[0]).isCloseTo(expected, within(1e-6));
        assertThat(vector[1]).isLessThanOrEqualTo(0.02f);
    }

    private void dense(float[] weight, float[] bias) throws IOException {
        String header = "{\"linear.weight\":{\"dtype\":\"F32\",\"shape\":[" + bias.length + ","
                + weight.length / bias.length
                + "],\"data_offsets\":[0," + weight.length * 4 + "]},\"linear.bias\":{\"dtype\":\"F32\",\"shape\":["
                + bias.length + "],\"data_offsets\":[" + weight.length * 4 + "," + (weight.length + bias.length) * 4
                + "]}}";
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(8 + json.length + (weight.length + bias.length) * 4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(json.length)
                .put(json);
        for (float x : weight) {
            bytes.putFloat(x);
        }
        for (float x : bias) {
            bytes.putFloat(x);
        }
        Files.write(folder.resolve("2_Dense/model.safetensors"), bytes.array());
    }

    @Test
    void denseWithoutSafetensorsSaysTheFix() throws IOException {
        modules(module("Pooling", "1_Pooling"), module("Dense", "2_Dense"));
        write("1_Pooling/config.json", "{}");
        write("2_Dense/config.json", "{\"in_features\":3,\"out_features\":2}");
        write("2_Dense/pytorch_model.bin", "pickle");
        assertThatThrownBy(() -> vector(RAW, "a"))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("pytorch_model.bin")
                .hasMessageContaining("safetensors");
    }

    @ParameterizedTest
    @CsvSource({"CNN, ''", "Pooling, ../1_Pooling", "Pooling, /etc", "Dense, 2_Dense"})
    void modulesThatAreNotSupportedOrLeaveTheFolderAreErrors(String kind, String path) throws IOException {
        modules(module(kind, path));
        assertThatThrownBy(() -> vector(RAW, "a"))
                .isInstanceOfAny(UnsupportedException.class, ImportException.class)
                .hasMessageContaining(path.isEmpty() ? kind : path.equals("2_Dense") ? "Dense" : path);
    }

    @Test
    void limitsComeFromTheFilesInOrder() throws IOException {
        assertThat(limit()).isEqualTo(512);
        write("config.json", "{\"max_position_embeddings\":40}");
        assertThat(limit()).isEqualTo(40);
        write("tokenizer_config.json", "{\"model_max_length\":30}");
        assertThat(limit()).isEqualTo(30);
        write("tokenizer_config.json", "{\"model_max_length\":1000000000000000019884624838656}");
        assertThat(limit()).isEqualTo(40);
        TinyModel.tokenizer(
                folder.resolve("tokenizer.json"),
                "{\"direction\":\"Right\",\"max_length\":20,\"strategy\":\"LongestFirst\",\"stride\":0}");
        assertThat(limit()).isEqualTo(20);
        write("sentence_bert_config.json", "{\"max_seq_length\":10,\"do_lower_case\":false}");
        assertThat(limit()).isEqualTo(10);
        try (EmbeddingEncoder encoder = EmbeddingEncoder.load(folder, Target.cpu(), RAW.withMaxTokens(5))) {
            assertThat(encoder.maxTokens()).isEqualTo(5);
        }
    }

    private int limit() {
        try (EmbeddingEncoder encoder = EmbeddingEncoder.load(folder, Target.cpu(), RAW)) {
            return encoder.maxTokens();
        }
    }

    @Test
    void longTextsAreCutAndCountedOrSplitByTokens() throws IOException {
        EncoderOptions five = RAW.withMaxTokens(5).withPooling(Pooling.LAST_TOKEN);
        try (EmbeddingEncoder encoder = EmbeddingEncoder.load(folder, Target.cpu(), five)) {
            Embeddings found = encoder.embed(List.of("a b c", "a b c d e", "e", "a a a a"));
            assertThat(found.cut()).containsExactly(1, 3);
            assertThat(found.vectors()).hasSize(4);
        }
        // parts [CLS] a b c [SEP] and [CLS] d e [SEP]
        EncoderOptions split = RAW.withMaxTokens(5).withPooling(Pooling.MAX).withLongTexts(LongTexts.SPLIT);
        try (EmbeddingEncoder encoder = EmbeddingEncoder.load(folder, Target.cpu(), split)) {
            Embeddings found = encoder.embed(List.of("a b c d e", "c"));
            assertThat(found.cut()).isEmpty();
            assertThat(found.vectors().get(0)).containsExactly((3 * 6 + 2 * 8) / 5f, (3 * 36 + 2 * 64) / 5f, 1);
            assertThat(found.vectors().get(1)).containsExactly(6, 36, 1);
        }
    }

    @Test
    void promptsAreNamedGivenOrTheDefault() throws IOException {
        pooling("{\"pooling_mode_max_tokens\":true,\"pooling_mode_mean_tokens\":false}");
        write(
                "config_sentence_transformers.json",
                "{\"prompts\":{\"query\":\"q \",\"none\":\"\"},\"default_prompt_name\":\"query\"}");
        assertThat(vector(RAW, "a")[0]).as("the default prompt").isEqualTo(9);
        assertThat(vector(RAW.withPrompt(Prompt.none()), "a")[0]).isEqualTo(4);
        assertThat(vector(RAW.withPrompt(Prompt.parse("none")), "a")[0]).isEqualTo(4);
        assertThat(vector(RAW.withPrompt(Prompt.parse("e ")), "a")[0]).isEqualTo(8);
        assertThatThrownBy(() -> vector(RAW.withPrompt(Prompt.parse("qurey")), "a"))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("qurey")
                .hasMessageContaining("query");
        assertThatThrownBy(() -> vector(RAW, "  "))
                .as("blank behind a prompt")
                .isInstanceOf(InputException.class)
                .hasMessageContaining("index 0");
    }

    @Test
    void promptOutsidePoolingDoesNotCount() throws IOException {
        pooling("{\"pooling_mode_max_tokens\":true,\"pooling_mode_mean_tokens\":false,\"include_prompt\":false}");
        assertThat(vector(RAW.withPrompt(Prompt.text("q ")), "a")[0]).isEqualTo(4);
    }

    @Test
    void lowerCaseIsAsTheFileSays() throws IOException {
        write("sentence_bert_config.json", "{\"max_seq_length\":10,\"do_lower_case\":true}");
        assertThat(vector(RAW.withPooling(Pooling.MAX), "E")[0]).isEqualTo(8);
    }

    @Test
    void blankTextIsAnErrorNamingItsIndex() {
        for (String blank : List.of("", " \t\n", "\u0000\u0007", "\u200B")) {
            assertThatThrownBy(() -> {
                        try (EmbeddingEncoder encoder = EmbeddingEncoder.load(model, Target.cpu(), RAW)) {
                            encoder.encode(List.of("a", blank, "b"));
                        }
                    })
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("index 1")
                    .hasMessageContaining("blank");
        }
    }

    @Test
    void pooledOutputIsTaken() throws IOException {
        TinyModel.write(model, 2);
        assertThat(vector(RAW, "a b")).containsExactly(5, 25, 1);
        assertThatThrownBy(() -> vector(RAW.withPooling(Pooling.MEAN), "a"))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("sentence_embedding");
        try (EmbeddingEncoder encoder = EmbeddingEncoder.load(model, Target.cpu())) {
            assertThat(encoder.assumptions()).extracting(Assumption::option).doesNotContain("--pooling");
        }
    }

    @Test
    void assumptionsNameTheirOptions() throws IOException {
        try (EmbeddingEncoder encoder = EmbeddingEncoder.load(model, Target.cpu())) {
            assertThat(encoder.assumptions())
                    .extracting(Assumption::option)
                    .containsExactly("--pooling", "--max-tokens", "--no-normalize");
        }
        modules(module("Pooling", "1_Pooling"));
        write("1_Pooling/config.json", "{\"pooling_mode_mean_tokens\":true}");
        write("sentence_bert_config.json", "{\"max_seq_length\":10}");
        try (EmbeddingEncoder encoder = EmbeddingEncoder.load(model, Target.cpu())) {
            assertThat(encoder.assumptions()).isEmpty();
        }
    }

    @Test
    void folderWithoutOneModelListsWhatThereIs() throws IOException {
        Path other = Files.createDirectory(folder.resolve("other"));
        assertThatThrownBy(() -> EmbeddingEncoder.load(other, Target.cpu()))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("no .onnx file");
        TinyModel.write(other.resolve("x.onnx"), 3);
        TinyModel.write(other.resolve("y.onnx"), 3);
        assertThatThrownBy(() -> EmbeddingEncoder.load(other, Target.cpu()))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("x.onnx")
                .hasMessageContaining("y.onnx");
    }

    @Test
    void givenFolderMustHaveTheFiles() {
        assertThatThrownBy(() -> vector(RAW.withFolder(folder.resolve("none")), "a"))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("modules.json");
    }

    @Test
    void neighboursAndPaddingDoNotMatter() {
        try (EmbeddingEncoder encoder = EmbeddingEncoder.load(folder, Target.cpu(), RAW)) {
            float[][] together = encoder.encode(List.of("a b c d e a b c d e", "a", "b c"));
            assertThat(together[1]).containsExactly(encoder.encode("a"));
            assertThat(together[2]).containsExactly(encoder.encode("b c"));
        }
    }
}
