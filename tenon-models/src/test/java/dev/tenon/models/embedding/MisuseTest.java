package dev.tenon.models.embedding;

import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.ShapePolicy;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.testkit.NullArguments;
import dev.tenon.core.testkit.PublicApi;
import dev.tenon.models.serving.BatcherOptions;
import java.io.IOException;
import java.lang.reflect.Parameter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

class MisuseTest {
    @TempDir
    Path folder;

    private final class Samples implements NullArguments.Samples {
        private @Nullable EmbeddingEncoder encoder;
        private @Nullable EmbeddingBatcher batcher;

        private final Map<Class<?>, Object> known = Map.ofEntries(
                Map.entry(String.class, "a"),
                Map.entry(int.class, 8),
                Map.entry(Integer.class, 8),
                Map.entry(boolean.class, true),
                Map.entry(Boolean.class, true),
                Map.entry(List.class, List.of()),
                Map.entry(Path.class, folder),
                Map.entry(Target.class, Target.cpu()),
                Map.entry(EngineOptions.class, EngineOptions.defaults()),
                Map.entry(CompileOptions.class, CompileOptions.defaults()),
                Map.entry(ShapePolicy.class, ShapePolicy.exact()),
                Map.entry(Pooling.class, Pooling.CLS),
                Map.entry(LongTexts.class, LongTexts.CUT),
                Map.entry(Prompt.class, Prompt.none()),
                Map.entry(Duration.class, Duration.ofMinutes(1)),
                Map.entry(Stream.class, Stream.of()),
                Map.entry(IntConsumer.class, (IntConsumer) _ -> {}),
                Map.entry(BatcherOptions.class, BatcherOptions.defaults()),
                Map.entry(EncoderOptions.class, EncoderOptions.defaults()));

        @Override
        public Object of(Parameter parameter) {
            return Objects.requireNonNull(known.get(parameter.getType()), parameter.toString());
        }

        @Override
        public Object receiver(Class<?> type) {
            if (type == EmbeddingEncoder.class || type == EmbeddingBatcher.class) {
                EmbeddingEncoder loaded = EmbeddingEncoder.load(folder, Target.cpu());
                encoder = loaded;
                return type == EmbeddingEncoder.class ? loaded : batcher(loaded);
            }
            return Objects.requireNonNull(known.get(type), type.toString());
        }

        private EmbeddingBatcher batcher(EmbeddingEncoder loaded) {
            EmbeddingBatcher made = loaded.batcher(BatcherOptions.defaults());
            batcher = made;
            return made;
        }

        @Override
        public void close() {
            if (batcher != null) {
                batcher.close();
            }
            if (encoder != null) {
                encoder.close();
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> nullArgumentIsNamed() throws Exception {
        files();
        return NullArguments.tests(PublicApi.classesBeside(EmbeddingEncoder.class), Samples::new);
    }

    private void files() throws IOException {
        TinyModel.write(folder.resolve("onnx/model.onnx"), 3);
        TinyModel.tokenizer(folder.resolve("tokenizer.json"), "null");
    }
}
