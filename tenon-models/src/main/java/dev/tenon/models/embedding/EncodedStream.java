package dev.tenon.models.embedding;

import dev.tenon.core.error.Require;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Vectors of texts that come one by one: a window of texts is encoded while the next is read and tokenized. Used by one
 * thread at a time.
 *
 * @param <T> a window as tokens
 */
final class EncodedStream<T> implements Iterator<float[]> {
    /** Tokenizes a window. */
    interface Windows<T> {
        /** @param before how many texts came before these */
        T tokens(List<String> texts, long before);
    }

    private final Iterator<String> texts;
    private final int window;
    private final Windows<T> tokenize;
    private final Function<T, Embeddings> embed;
    private @Nullable FutureTask<@Nullable T> ahead;
    private Iterator<float[]> vectors = List.<float[]>of().iterator();
    private boolean begun;
    private long before;

    EncodedStream(Iterator<String> texts, int window, Windows<T> tokenize, Function<T, Embeddings> embed) {
        this.texts = texts;
        this.window = window;
        this.tokenize = tokenize;
        this.embed = embed;
    }

    Stream<float[]> stream() {
        return StreamSupport.stream(
                Spliterators.spliteratorUnknownSize(this, Spliterator.ORDERED | Spliterator.NONNULL), false);
    }

    @Override
    public boolean hasNext() {
        if (!begun) {
            begun = true;
            readAhead();
        }
        while (!vectors.hasNext()) {
            T tokens = awaited();
            if (tokens == null) {
                return false;
            }
            readAhead();
            vectors = embed.apply(tokens).vectors().iterator();
        }
        return true;
    }

    @Override
    public float[] next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the stream of texts has ended");
        }
        return vectors.next();
    }

    private void readAhead() {
        ahead = ParallelTasks.aside("tenon-encode-ahead", this::read);
    }

    /** The next window; null at the end. */
    private @Nullable T read() {
        List<String> some = new ArrayList<>();
        while (some.size() < window && texts.hasNext()) {
            some.add(Require.nonNull(texts.next(), "texts"));
        }
        T tokens = some.isEmpty() ? null : tokenize.tokens(some, before);
        before += some.size();
        return tokens;
    }

    private @Nullable T awaited() {
        FutureTask<@Nullable T> task = ahead;
        if (task == null) {
            return null;
        }
        T tokens = ParallelTasks.result(task);
        ahead = tokens == null ? null : task;
        return tokens;
    }
}
