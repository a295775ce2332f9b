package dev.tenon.cuda.kernel;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.port.GpuContext;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Tasks, each of which keeps a core busy for a second or so, side by side: as many at a time as there are cores, in the
 * whole process. Threads live as long as their call.
 */
final class ParallelLoads {
    private static final int CORES = Runtime.getRuntime().availableProcessors();
    private static final Semaphore FREE = new Semaphore(CORES);

    private final Iterator<Map.Entry<String, Runnable>> tasks;
    private final Map<String, Throwable> faults = new ConcurrentHashMap<>();
    private boolean stopped;
    /** Kept apart from the faults, which an exhausted heap may have no room for. */
    private @Nullable Error error;

    private ParallelLoads(Map<String, Runnable> tasks) {
        this.tasks = tasks.entrySet().iterator();
    }

    /**
     * Runs tasks, begun in their order. After one has failed no other is begun, but where something is merely
     * unsupported, for which there may be another way; those that run already are waited for. An interrupt is passed on
     * to them.
     *
     * @param context what the tasks are for
     * @return what failed, and why: of those that failed and those that were not begun the first has failed
     * @throws Error the first that a task met, when no thread works any more
     */
    static Map<String, Throwable> run(GpuContext context, Map<String, Runnable> tasks) {
        ParallelLoads loads = new ParallelLoads(tasks);
        int threads = Math.min(CORES, tasks.size());
        if (threads <= 1) {
            loads.work();
            return loads.outcome();
        }
        List<Thread> workers = new ArrayList<>(threads);
        try {
            for (int i = 0; i < threads; i++) {
                Thread worker =
                        Thread.ofPlatform().name("tenon-kernels-" + i).daemon().unstarted(loads::work);
                context.start(worker);
                workers.add(worker);
            }
        } catch (OutOfMemoryError e) { // no more threads: those that run are waited for below
            loads.failed(e);
        }
        boolean interrupted = false;
        for (Thread worker : workers) {
            while (worker.isAlive()) {
                try {
                    worker.join();
                } catch (InterruptedException _) {
                    interrupted = true;
                    workers.forEach(Thread::interrupt);
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return loads.outcome();
    }

    private synchronized Map<String, Throwable> outcome() {
        if (error != null) {
            throw error;
        }
        return faults;
    }

    private void work() {
        for (Map.Entry<String, Runnable> task = next(); task != null; task = next()) {
            // a thread that waits for a module which another one makes keeps its permit; the other one has its own
            FREE.acquireUninterruptibly();
            try {
                task.getValue().run();
            } catch (Exception e) {
                failed(task.getKey(), e);
            } catch (Error e) {
                failed(e);
            } finally {
                FREE.release();
            }
        }
    }

    private synchronized Map.@Nullable Entry<String, Runnable> next() {
        return !stopped && tasks.hasNext() ? tasks.next() : null;
    }

    private synchronized void failed(Error met) {
        stopped = true;
        if (error == null) {
            error = met;
        }
    }

    private synchronized void failed(String task, Exception fault) {
        faults.put(task, fault);
        stopped |= !(fault instanceof UnsupportedException);
    }
}
