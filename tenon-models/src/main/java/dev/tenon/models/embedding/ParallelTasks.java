package dev.tenon.models.embedding;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
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
        awaitAll(others);
        switch (tasks.failure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
    }

    /** What a task gives, once it has ended. @throws RuntimeException as the task did */
    static <T> T result(FutureTask<T> task) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true; // what the task uses must not be left while it uses it
                } catch (ExecutionException e) {
                    switch (e.getCause()) {
                        case RuntimeException cause -> throw cause;
                        case Error cause -> throw cause;
                        case null, default -> throw new IllegalStateException(e);
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
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

    private static void awaitAll(List<Thread> threads) {
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    interrupted = true; // what the tasks use must not be left while they use it
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
