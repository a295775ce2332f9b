package dev.tenon.cli.bench;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.OverloadException;
import dev.tenon.models.embedding.EmbeddingBatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Clients of a batcher: threads that have one text each and ask again as soon as they have its vector. */
final class ClientLoad {
    /** A request that has no answer by then, though the batcher is closed, is lost. */
    private static final long PATIENCE_SECONDS = 60;

    private static final long REST_MILLIS = 2;

    private final EmbeddingBatcher batcher;
    private final List<String> texts;
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile boolean ended;

    private ClientLoad(EmbeddingBatcher batcher, List<String> texts) {
        this.batcher = batcher;
        this.texts = texts;
    }

    /**
     * What clients saw.
     *
     * @param micros from a request to its vector, of the requests that were answered in time
     * @param seconds that they asked for
     * @param refused requests that were told that too many wait
     * @param lost requests that got neither a vector nor an error, though the batcher was closed
     */
    record Seen(List<Double> micros, double seconds, long refused, long lost) {}

    /** Runs clients for some seconds, then closes the batcher under their hands. */
    static Seen run(EmbeddingBatcher batcher, List<String> texts, int clients, double seconds)
            throws InterruptedException {
        ClientLoad load = new ClientLoad(batcher, texts);
        List<List<Double>> micros = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        long start = System.nanoTime();
        for (int client = 0; client < clients; client++) {
            int first = client;
            List<Double> own = new ArrayList<>();
            micros.add(own);
            threads.add(Thread.ofPlatform().name("client-" + client).start(() -> load.ask(first, clients, own)));
        }
        long end = start + (long) (seconds * 1e9);
        while (System.nanoTime() < end && load.failure.get() == null) {
            Thread.sleep(REST_MILLIS);
        }
        load.ended = true;
        double asked = (System.nanoTime() - start) / 1e9;
        batcher.close();
        for (Thread thread : threads) {
            thread.join();
        }
        load.fail();
        return new Seen(micros.stream().flatMap(List::stream).toList(), asked, load.refused.get(), load.lost.get());
    }

    private void ask(int first, int clients, List<Double> micros) {
        try {
            for (int at = first; ; at = (at + clients) % texts.size()) {
                long start = System.nanoTime();
                if (answered(texts.get(at)) && !ended) {
                    micros.add((System.nanoTime() - start) / 1e3);
                }
            }
        } catch (ClosedException e) {
            if (!ended) {
                failure.compareAndSet(null, e);
            }
        } catch (TimeoutException e) {
            lost.incrementAndGet();
        } catch (ExecutionException e) {
            failure.compareAndSet(null, e.getCause());
        } catch (InterruptedException | RuntimeException e) {
            failure.compareAndSet(null, e);
        }
    }

    /** Whether a text got its vector; where too many wait, its client asks again a little later. */
    private boolean answered(String text) throws ExecutionException, InterruptedException, TimeoutException {
        CompletableFuture<float[]> vector;
        try {
            vector = batcher.encode(text);
        } catch (OverloadException e) {
            refused.incrementAndGet();
            Thread.sleep(REST_MILLIS);
            return false;
        }
        vector.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        return true;
    }

    private void fail() {
        switch (failure.get()) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IllegalStateException("a client failed: " + e, e);
        }
    }
}
