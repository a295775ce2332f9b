package dev.tenon.cuda.dnn;

import dev.tenon.core.lazy.Uninterrupted;
import java.util.ArrayDeque;
import java.util.ArrayList;
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
 * and end with {@link #close}; where none can start, or one fails, the asking thread works it out. Thread-safe.
 *
 * @param <Q> questions; equal ones have one answer
 * @param <A> answers, owned by the thread that takes them
 */
final class Ahead<Q, A> implements AutoCloseable {
    private final int most;
    private final Function<Q, A> work;
    private final Consumer<A> unwanted;
    private final Consumer<Thread> starting;
    private final ArrayDeque<Task<Q, A>> queue = new ArrayDeque<>();
    /** Done while no question waits. */
    private final ArrayDeque<Runnable> chores = new ArrayDeque<>();

    private final List<Thread> threads = new ArrayList<>();
    /** Threads that wait for a question. */
    private int idle;

    private boolean ended;

    /** The thread that claims it works it out. A failure completes it with null. */
    private record Task<Q, A>(Q question, AtomicBoolean claimed, CompletableFuture<@Nullable A> answer) {
        boolean claim() {
            return claimed.compareAndSet(false, true);
        }
    }

    /**
     * @param most threads
     * @param work called by several threads at a time
     * @param unwanted takes answers that were not taken
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
        private final Map<Q, Task<Q, A>> tasks = new HashMap<>();

        private Batch() {}

        /** Lets a thread begin with a question, behind those before it. Does nothing with one that is here already. */
        void add(Q question) {
            if (!tasks.containsKey(question)) {
                Task<Q, A> task = new Task<>(question, new AtomicBoolean(), new CompletableFuture<>());
                if (enqueue(task)) {
                    tasks.put(question, task);
                }
            }
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

    /** A batch without questions yet, which the caller closes. */
    Batch begin() {
        return new Batch();
    }

    /** @return false where no thread will be at it */
    private synchronized boolean enqueue(Task<Q, A> task) {
        if (ended) {
            return false;
        }
        queue.add(task);
        if (queue.size() > idle && threads.size() < most) {
            startOne();
        }
        notify();
        return true;
    }

    /** Lets a thread do something behind all questions, if one can be had. */
    synchronized void later(Runnable chore) {
        if (ended) {
            return;
        }
        chores.add(chore);
        if (chores.size() > idle && threads.size() < most) {
            startOne();
        }
        notify();
    }

    /** Where no thread can start, the asking thread works it out. */
    private void startOne() {
        Thread fresh = Thread.ofPlatform()
                .daemon()
                .name("tenon-ahead-" + (threads.size() + 1))
                .unstarted(this::run);
        try {
            starting.accept(fresh);
            threads.add(fresh);
        } catch (OutOfMemoryError e) {
            // the next question tries again
        }
    }

    private void run() {
        for (Runnable work = next(); work != null; work = next()) {
            try {
                work.run();
            } catch (RuntimeException | OutOfMemoryError e) {
                // of a chore: no answer is due
            }
        }
    }

    private void answer(Task<Q, A> task) {
        if (task.claim()) {
            A answer = null;
            try {
                answer = work.apply(task.question);
            } catch (RuntimeException | OutOfMemoryError e) {
                // the asking thread meets the same failure and reports it
            } finally {
                task.answer.complete(answer);
            }
        }
    }

    /** A question, else a chore; null at the end. */
    private synchronized @Nullable Runnable next() {
        while (queue.isEmpty() && chores.isEmpty() && !ended) {
            idle++;
            try {
                wait();
            } catch (InterruptedException e) {
                // nobody interrupts it; it ends when it is told to
            } finally {
                idle--;
            }
        }
        if (ended) {
            return null;
        }
        Task<Q, A> task = queue.poll();
        return task == null ? chores.remove() : () -> answer(task);
    }

    /** Ends the threads, after what they are at. Idempotent. */
    @Override
    public void close() {
        List<Thread> last;
        synchronized (this) {
            ended = true;
            queue.clear();
            chores.clear();
            notifyAll();
            last = List.copyOf(threads);
        }
        for (Thread thread : last) {
            Uninterrupted.run(thread::join);
        }
    }
}
