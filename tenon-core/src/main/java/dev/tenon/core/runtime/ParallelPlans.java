package dev.tenon.core.runtime;

import dev.tenon.core.lazy.Uninterrupted;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Plans that are made at the same time, as many as there are cores. Threads live as long as the call. */
final class ParallelPlans {
    private final Queue<Runnable> waiting;
    private @Nullable Throwable failure;

    private ParallelPlans(List<Runnable> plans) {
        this.waiting = new ConcurrentLinkedQueue<>(plans);
    }

    /** Makes all of them; after the first that fails no other is begun, and the call throws what that one threw. */
    static void make(List<Runnable> plans) {
        ParallelPlans ahead = new ParallelPlans(plans);
        int helpers = Math.min(plans.size(), Runtime.getRuntime().availableProcessors()) - 1;
        List<Thread> threads = new ArrayList<>();
        try {
            for (int i = 0; i < helpers; i++) {
                threads.add(Thread.ofPlatform().daemon().name("tenon-plan-" + i).start(ahead::work));
            }
        } catch (OutOfMemoryError e) {
            // no more threads: this one makes the rest
        }
        ahead.work();
        threads.forEach(thread -> Uninterrupted.run(thread::join));
        ahead.rethrow();
    }

    private void work() {
        for (Runnable plan = waiting.poll(); plan != null; plan = waiting.poll()) {
            try {
                plan.run();
            } catch (RuntimeException | Error e) {
                failed(e);
            }
        }
    }

    private synchronized void failed(Throwable why) {
        waiting.clear();
        if (failure == null) {
            failure = why;
        }
    }

    private synchronized void rethrow() {
        switch (failure) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> {
                // all are made
            }
        }
    }
}
