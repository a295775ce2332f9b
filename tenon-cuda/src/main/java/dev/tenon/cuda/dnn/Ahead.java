package dev.tenon.cuda.dnn;

import dev.tenon.core.lazy.Uninterrupted;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Answers that threads work out before they are asked for. The threads begin with the first questions, wait for more
 * and end with {@link #close}; where none can be had, or one fails, whoever asks works it out. Thread-safe.
 *
 * @param <Q> questions; equal ones have one answer
 * @param <A> answers, which whoever takes them owns
 */
final class Ahead<Q, A> implements AutoCloseable {
    private final int most;
    private final Function<Q, A> work;
    private final Consumer<A> unwanted;
    private final Consumer<Thread> starting;
    private final ArrayDeque<Task<Q, A>> queue = new ArrayDeque<>();
    private final List<Thread> threads = new ArrayList<>();
    private boolean ended;

    /** Whoever claims it works it out. A failure completes it with null. */
    private record Task<Q, A>(Q question, AtomicBoolean claimed, CompletableFuture<@Nullable A> answer) {
        boolean claim() {
            return claimed.compareAndSet(false, true);
        }
    }

    /**
     * @param most threads
     * @param work called by several threads at a time
     * @param unwanted takes answers that nobody took
     * @param starting starts a thread
     */
    Ahead(int most, Function<Q, A> work, Consumer<A> unwanted, Consumer<Thread> starting) {
        this.most = most;
        this.work = work;
        this.unwanted = unwanted;
        this.starting = starting;
    }

    /** Questions that will be asked. Used by one thread. */
    final class Batch implements AutoCloseable {
        private final Map<Q, Task<Q, A>> tasks;

        private Batch(Map<Q, Task<Q, A>> tasks) {
            this.tasks = tasks;
        }

        /**
         * The answer to a question, once; waits where a thread is at it.
         *
         * @return null where no thread has begun with it, or it failed
         */
        @Nullable
        A take(Q question) {
            Task<Q, A> task = tasks.remove(question);
            return task == null || task.claim() ? null : task.answer.join();
        }

        /** Gives up what was not taken; waits for what is being worked out. */
        @Override
        public void close() {
            for (Task<Q, A> task : tasks.values()) {
                A answer = task.claim() ? null : task.answer.join();
                if (answer != null) {
                    unwanted.accept(answer);
                }
            }
            tasks.clear();
        }
    }

    /** Lets threads begin with questions, in the order in which they will be asked. The caller closes the batch. */
    Batch begin(Collection<Q> questions) {
        Map<Q, Task<Q, A>> tasks = new HashMap<>();
        synchronized (this) {
            for (Q question : questions) {
                if (!ended && !tasks.containsKey(question)) {
                    Task<Q, A> task = new Task<>(question, new AtomicBoolean(), new CompletableFuture<>());
                    tasks.put(question, task);
                    queue.add(task);
                }
            }
            notifyAll();
            int wanted = ended ? 0 : Math.min(most, queue.size());
            for (int i = threads.size(); i < wanted && startOne(); i++) {}
        }
        return new Batch(tasks);
    }

    /** @return false where no thread is to be had: whoever asks works it out */
    private boolean startOne() {
        Thread fresh = Thread.ofPlatform()
                .daemon()
                .name("tenon-ahead-" + (threads.size() + 1))
                .unstarted(this::run);
        try {
            starting.accept(fresh);
        } catch (OutOfMemoryError e) {
            return false;
        }
        threads.add(fresh);
        return true;
    }

    private void run() {
        for (Task<Q, A> task = next(); task != null; task = next()) {
            if (task.claim()) {
                A answer = null;
                try {
                    answer = work.apply(task.question);
                } catch (RuntimeException | OutOfMemoryError e) {
                    // whoever asks meets the same, and says so
                } finally {
                    task.answer.complete(answer);
                }
            }
        }
    }

    private synchronized @Nullable Task<Q, A> next() {
        while (queue.isEmpty() && !ended) {
            try {
                wait();
            } catch (InterruptedException e) {
                // nobody interrupts it; it ends when it is told to
            }
        }
        return ended ? null : queue.remove();
    }

    /** Ends the threads, after what they are at. Idempotent. */
    @Override
    public void close() {
        List<Thread> last;
        synchronized (this) {
            ended = true;
            queue.clear();
            notifyAll();
            last = List.copyOf(threads);
        }
        for (Thread thread : last) {
            Uninterrupted.run(thread::join);
        }
    }
}
