package dev.tenon.models.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.options.ShapePolicy;
import dev.tenon.core.runtime.Target;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Many texts at once and many threads at once, against vectors computed from the table of {@link TinyModel}. */
@Timeout(120)
class EncoderBatchesTest {
    private static final EncoderOptions RAW = EncoderOptions.defaults().withNormalise(false);
    private static final int THREADS = 6;

    @TempDir
    Path folder;

    @BeforeEach
    void files() throws IOException {
        TinyModel.write(folder.resolve("onnx/model.onnx"), 3);
        TinyModel.tokenizer(folder.resolve("tokenizer.json"), "null");
    }

    private EmbeddingEncoder load(EncoderOptions options) {
        return EmbeddingEncoder.load(folder, Target.cpu(), options);
    }

    /** Texts of 1 to 20 words; equal texts occur. */
    private static List<String> texts(long seed, int count) {
        SplittableRandom random = new SplittableRandom(seed);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            StringBuilder text = new StringBuilder();
            for (int word = random.nextInt(1, 21); word > 0; word--) {
                text.append((char) ('a' + random.nextInt(5))).append(word > 1 ? " " : "");
            }
            texts.add(text.toString());
        }
        return texts;
    }

    /** The tokens of a text as {@link TinyModel} numbers them. */
    private static double[] tokens(String text) {
        List<Double> all = new ArrayList<>(List.of(2.0));
        for (String word : text.split(" ")) {
            all.add((double) TinyModel.WORDS.indexOf(word));
        }
        all.add(3.0);
        return all.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** The first component of the pooled vector. */
    private static double pooled(Pooling pooling, double[] tokens) {
        double sum = Arrays.stream(tokens).sum();
        double weighted = 0;
        for (int i = 0; i < tokens.length; i++) {
            weighted += (i + 1) * tokens[i];
        }
        int n = tokens.length;
        return switch (pooling) {
            case CLS -> tokens[0];
            case LAST_TOKEN -> tokens[n - 1];
            case MAX -> Arrays.stream(tokens).max().orElseThrow();
            case MEAN -> sum / n;
            case MEAN_SQRT_LEN -> sum / Math.sqrt(n);
            case WEIGHTED_MEAN -> weighted / (n * (n + 1) / 2.0);
        };
    }

    private static void check(Pooling pooling, List<String> texts, float[][] vectors) {
        assertThat(vectors).hasNumberOfRows(texts.size());
        for (int i = 0; i < vectors.length; i++) {
            assertThat((double) vectors[i][0])
                    .as("text %d \"%s\"", i, texts.get(i))
                    .isCloseTo(pooled(pooling, tokens(texts.get(i))), org.assertj.core.api.Assertions.within(1e-4));
        }
    }

    @ParameterizedTest
    @EnumSource
    void eachPoolingIgnoresThePaddingOfItsBatch(Pooling pooling) {
        try (EmbeddingEncoder encoder = load(RAW.withPooling(pooling))) {
            List<String> texts = texts(1, 40);
            check(pooling, texts, encoder.encode(texts));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 32, 1000})
    void vectorsComeInTheOrderOfTheTextsWhateverTheBatch(int batch) {
        try (EmbeddingEncoder encoder = load(RAW.withPooling(Pooling.MEAN).withBatch(batch))) {
            List<String> texts = texts(batch, 65);
            check(Pooling.MEAN, texts, encoder.encode(texts));
        }
    }

    @Test
    void roundedLengthsDoNotChangeVectorsAndMakeFewerPlans() {
        List<String> texts = texts(3, 64);
        try (EmbeddingEncoder exact = load(RAW.withBatch(1));
                EmbeddingEncoder rounded = load(RAW.withBatch(1).withLengths(ShapePolicy.multiplesOf(16)))) {
            float[][] expected = exact.encode(texts);
            float[][] actual = rounded.encode(texts);
            for (int i = 0; i < expected.length; i++) {
                assertThat(actual[i]).containsExactly(expected[i]);
            }
            assertThat(rounded.model().report().plans()).as("16 and 32 tokens").hasSize(2);
            assertThat(exact.model().report().plans().size()).isGreaterThan(10);
        }
    }

    @Test
    void textsKnownBeforeLoadingArePlannedThen() {
        Path tokenizer = EmbeddingEncoder.tokenizerBeside(folder);
        List<String> few = texts(5, 7);
        for (List<String> first : List.of(few, texts(6, 33), List.<String>of())) {
            EncoderOptions options = RAW.withPooling(Pooling.MEAN).withBatch(64);
            try (EmbeddingEncoder encoder = EmbeddingEncoder.load(folder, tokenizer, Target.cpu(), options, first)) {
                int plans = first.equals(few) ? 1 : 0;
                assertThat(encoder.model().report().plans()).hasSize(plans);
                check(Pooling.MEAN, few, encoder.encode(few));
                assertThat(encoder.model().report().plans()).as("the run's own").hasSize(1);
            }
        }
        assertThatThrownBy(() -> EmbeddingEncoder.load(folder, tokenizer, Target.cpu(), RAW, List.of("a", " ")))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("the text at index 1");
    }

    @Test
    void noTextsGiveNoVectors() {
        try (EmbeddingEncoder encoder = load(RAW)) {
            assertThat(encoder.encode(List.of())).isEmpty();
            assertThat(encoder.embed(List.of()).cut()).isEmpty();
        }
    }

    @Test
    void threadsShareAnEncoder() throws Exception {
        CyclicBarrier start = new CyclicBarrier(THREADS);
        try (EmbeddingEncoder encoder = load(RAW.withPooling(Pooling.MEAN).withBatch(5));
                ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                int own = thread;
                all.add(threads.submit(() -> {
                    start.await();
                    for (int round = 0; round < 20; round++) {
                        List<String> texts = texts(1000L * own + round, 1 + round);
                        check(Pooling.MEAN, texts, encoder.encode(texts));
                    }
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        }
    }

    @Test
    void closedEncoderRefusesTexts() {
        EmbeddingEncoder encoder = load(RAW);
        encoder.encode("a");
        encoder.close();
        encoder.close();
        assertThatThrownBy(() -> encoder.encode("a")).isInstanceOf(ClosedException.class);
    }
}
