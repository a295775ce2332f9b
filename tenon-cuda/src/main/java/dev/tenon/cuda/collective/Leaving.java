package dev.tenon.cuda.collective;

import dev.tenon.cuda.port.GpuContext;
import dev.tenon.nativelib.ProcessEnd;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How ranks go: every step that waits for NCCL or for a device has a daemon thread and an end. What is still held then
 * is left behind, with a line in the log, instead of waiting for ever. Thread-safe.
 */
final class Leaving {
    private static final System.Logger LOG = System.getLogger(Leaving.class.getName());
    private static final Duration LONGEST = Duration.ofSeconds(10);
    private static final int EXIT_SECONDS = 5;
    /** Steps that have not ended; some may yet. */
    private static final Set<Thread> UNDER_WAY = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Leaving::exit, "tenon-collective-exit"));
    }

    private Leaving() {}

    /**
     * Calls nothing of NCCL's: an abort may block. But exit handlers of NCCL and the driver must not run over a
     * communicator that is still there, whose threads go on, nor after an abort: they may end the process by a signal,
     * or wait for a device for ever. The process then ends without them, with its own exit code, and has a last moment
     * for other hooks.
     */
    private static void exit() {
        List<String> held = Held.all();
        if (held.isEmpty() && UNDER_WAY.isEmpty() && !Held.abortedAny()) {
            return;
        }
        if (!held.isEmpty()) {
            LOG.log(System.Logger.Level.WARNING, "the process ends and NCCL still holds " + String.join("; ", held));
        }
        if (!held.isEmpty() || !UNDER_WAY.isEmpty()) {
            ProcessEnd.within(EXIT_SECONDS);
        }
        ProcessEnd.withoutExitHandlers();
    }

    /**
     * What has not been let go so far: communicators, and how many steps are under way; empty when there is nothing.
     */
    static String open() {
        List<String> held = Held.all();
        int steps = UNDER_WAY.size();
        return held.isEmpty() && steps == 0 ? "" : held + ", " + steps + " step(s) under way";
    }

    /** Starts a step; to be waited for by {@link #ended}. */
    static Thread start(Runnable step) {
        Thread thread = Thread.ofPlatform()
                .daemon()
                .name("tenon-collective-step")
                .unstarted(() -> {
                    try {
                        step.run();
                    } catch (RuntimeException e) {
                        LOG.log(System.Logger.Level.WARNING, "joining or leaving a group: " + e.getMessage());
                    } finally {
                        UNDER_WAY.remove(Thread.currentThread());
                    }
                });
        UNDER_WAY.add(thread);
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            UNDER_WAY.remove(thread); // or the process would wait for it at its end
            throw e;
        }
        return thread;
    }

    /** Waits for steps, though not for ever. @return whether all have ended */
    static boolean ended(List<Thread> steps) {
        return ended(steps, LONGEST);
    }

    static boolean ended(List<Thread> steps, Duration longest) {
        long deadline = System.nanoTime() + longest.toNanos();
        boolean interrupted = false;
        try {
            for (Thread step : steps) {
                while (step.isAlive() && System.nanoTime() - deadline < 0) {
                    try {
                        step.join(Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
                    } catch (InterruptedException e) {
                        interrupted = true; // what is being given back must not be used by two threads
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return steps.stream().noneMatch(Thread::isAlive);
    }

    /** Waits until the devices are done with their work. @return whether they are */
    static boolean idle(List<GpuContext> contexts, Duration longest) {
        return ended(
                contexts.stream().map(context -> start(context::synchronize)).toList(), longest);
    }

    /** Leaves NCCL, then gives back what the ranks own on their devices. */
    static void leave(List<Thread> closing, List<GpuContext> contexts, Runnable giveBack) {
        if (!ended(closing)) {
            contexts.forEach(GpuContext::keep);
            LOG.log(
                    System.Logger.Level.WARNING,
                    "NCCL has not let a communicator go within " + LONGEST.toSeconds()
                            + " s, it is left behind: a rank that has not closed, or a graph that holds a collective and is still open; "
                            + open());
        }
        if (!ended(List.of(start(giveBack)))) {
            String why = "the device has not let a rank's memory go within " + LONGEST.toSeconds()
                    + " s: a collective on it does not end";
            contexts.forEach(context -> context.abandon(why));
            LOG.log(System.Logger.Level.WARNING, why + "; it is of no use to this process any more");
        }
    }
}
