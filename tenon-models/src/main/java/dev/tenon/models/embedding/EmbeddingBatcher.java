package dev.tenon.models.embedding;

import dev.tenon.core.error.Require;
import dev.tenon.models.serving.BatcherOptions;
import dev.tenon.models.serving.RequestBatcher;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Embeds the texts of many clients, each of which has one at a time: they go through the model together. Texts are
 * tokenized by the threads that bring them. Made by {@link EmbeddingEncoder#batcher}; close it before the encoder.
 *
 * <p>Thread-safe. Closing returns when all texts that wait are done.
 */
public final class EmbeddingBatcher implements AutoCloseable {
    private final EmbeddingEncoder encoder;
    private final RequestBatcher<EmbeddingEncoder.Tokens, float[]> batcher;

    EmbeddingBatcher(EmbeddingEncoder encoder, BatcherOptions options) {
        this.encoder = encoder;
        this.batcher = new RequestBatcher<>("tenon-embed", options, new RequestBatcher.Work<>() {
            @Override
            public long weight(EmbeddingEncoder.Tokens text) {
                return text.parts().stream().mapToLong(TextPart::size).sum();
            }

            @Override
            public List<float[]> run(List<EmbeddingEncoder.Tokens> texts) {
                return encoder.embed(EmbeddingEncoder.Tokens.of(texts), _ -> {}).vectors();
            }
        });
    }

    /**
     * Returns the vector of a text once its batch is done.
     *
     * @throws dev.tenon.core.error.InputException when the text is blank
     * @throws dev.tenon.core.error.OverloadException when too many texts wait
     * @throws dev.tenon.core.error.ClosedException after close
     */
    public CompletableFuture<float[]> encode(String text) {
        return batcher.submit(encoder.tokens(List.of(Require.nonNull(text, "text")), 0));
    }

    /**
     * The same; when its batch has not begun within that time, the result is a
     * {@link dev.tenon.core.error.DeadlineException}.
     */
    public CompletableFuture<float[]> encode(String text, Duration within) {
        return batcher.submit(encoder.tokens(List.of(Require.nonNull(text, "text")), 0), within);
    }

    /** Returns how many texts wait now. */
    public int waiting() {
        return batcher.waiting();
    }

    @Override
    public void close() {
        batcher.close();
    }
}
