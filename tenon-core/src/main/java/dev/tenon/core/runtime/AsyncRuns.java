package dev.tenon.core.runtime;

import dev.tenon.core.lazy.Lazy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads for runs that their callers do not wait for: one for each under way, kept for some seconds. */
final class AsyncRuns {
    private static final long KEPT_SECONDS = 10;

    private static final Lazy<ExecutorService> THREADS = new Lazy<>() {
        @Override
        protected ExecutorService make() {
            ThreadFactory daemons =
                    Thread.ofPlatform().daemon().name("tenon-run-", 1).factory();
            return new ThreadPoolExecutor(
                    0, Integer.MAX_VALUE, KEPT_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), daemons);
        }
    };

    private AsyncRuns() {}

    /** Starts a run; where no thread is to be had, that is its result. */
    static void start(Runnable run, CompletableFuture<?> result, CompletableFuture<Void> ended) {
        try {
            THREADS.get().execute(run);
        } catch (RuntimeException | OutOfMemoryError e) {
            result.completeExceptionally(e);
            ended.complete(null);
        }
    }
}
