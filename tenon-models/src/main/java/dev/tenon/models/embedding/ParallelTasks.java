package dev.tenon.models.embedding;

import dev.tenon.core.lazy.Uninterrupted;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** Numbered tasks on several threads, of which the caller's is one. */
final class ParallelTasks {
    private final int count;
    private final IntConsumer task;
    private final AtomicInteger next = new AtomicInteger();
    private volatile @Nullable Throwable failure;

    private ParallelTasks(int count, IntConsumer task) {
        this.count = count;
        this.task = task;
    }

    /**
     * Does every task once, in the order of their numbers as far as threads are free. Returns when none is under way.
     *
     * @throws RuntimeException the first failure; tasks that had not begun are left out then
     */
    static void run(int threads, int count, IntConsumer task) {
        ParallelTasks tasks = new ParallelTasks(count, task);
        List<Thread> others = new ArrayList<>();
        try {
            for (int i = 1; i < Math.min(threads, count); i++) {
                others.add(
                        Thread.ofPlatform().daemon().name("tenon-encode-" + i).start(tasks::work));
            }
        } catch (OutOfMemoryError e) {
            // no more threads are to be had: those that are there do the work
        }
        tasks.work();
        // what the tasks use must not be left while they use it
        others.forEach(other -> Uninterrupted.run(other::join));
        switch (tasks.failure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
    }

    /** Begins a task on a thread of its own; where none is to be had, the caller has done it when this returns. */
    static <T extends @Nullable Object> FutureTask<T> aside(String name, Callable<T> work) {
        return aside(work, task -> Thread.ofPlatform().daemon().name(name).start(task));
    }

    static <T extends @Nullable Object> FutureTask<T> aside(Callable<T> work, Consumer<Runnable> start) {
        FutureTask<T> task = new FutureTask<>(work);
        try {
            start.accept(task);
        } catch (OutOfMemoryError e) {
            task.run();
        }
        return task;
    }

    /** What a task gives, once it has ended. @throws RuntimeException as the task did */
    static <T> T result(FutureTask<T> task) {
        // what the task uses must not be left while it uses it
        Uninterrupted.run(() -> {
            try {
                task.get();
            } catch (ExecutionException e) {
                // thrown below
            }
        });
        if (task.state() == Future.State.SUCCESS) {
            return task.resultNow();
        }
        switch (task.exceptionNow()) {
            case RuntimeException cause -> throw cause;
            case Error cause -> throw cause;
            case Throwable cause -> throw new IllegalStateException(cause);
        }
    }

    private void work() {
        for (int i = next.getAndIncrement(); i < count && failure == null; i = next.getAndIncrement()) {
            try {
                task.accept(i);
            } catch (Throwable e) {
                failed(e);
            }
        }
    }

    private synchronized void failed(Throwable met) {
        if (failure == null) {
            failure = met;
        }
    }
}
