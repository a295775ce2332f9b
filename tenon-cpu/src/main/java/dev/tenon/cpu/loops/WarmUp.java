package dev.tenon.cpu.loops;

import dev.tenon.core.lazy.Headroom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A daemon thread that runs the {@link HotLoop}s which are waited for, in turn, until each is compiled. */
public final class WarmUp {
    private static final int PAUSE_MILLIS = 100;

    /** Of the time that a batch took, how long to rest after it while programs run: they need the cores. */
    private static final int REST = 3;

    private static final AtomicInteger RUNNING = new AtomicInteger();
    private static final LinkedBlockingQueue<HotLoop> REQUESTS = new LinkedBlockingQueue<>();
    private static final AtomicInteger PENDING = new AtomicInteger();
    private static @Nullable Thread thread;

    private WarmUp() {}

    static void add(HotLoop loop) {
        start();
        REQUESTS.add(loop);
        PENDING.incrementAndGet();
    }

    /** Loops that are asked for and not decided on. */
    public static int pending() {
        return PENDING.get();
    }

    /** A program begins to run. */
    public static void programBegins() {
        RUNNING.incrementAndGet();
    }

    /** A program that {@link #programBegins began} has ended. */
    public static void programEnds() {
        RUNNING.decrementAndGet();
    }

    private static synchronized void start() {
        if (thread == null) {
            Thread fresh = new Thread(WarmUp::run, "tenon-cpu-warm-up");
            fresh.setDaemon(true);
            fresh.start();
            thread = fresh;
        }
    }

    private static void run() {
        List<HotLoop> waiting = new ArrayList<>();
        try {
            while (true) {
                int pause = PAUSE_MILLIS; // the scalar loops serve until there is memory again
                if (waiting.isEmpty() || Headroom.there()) {
                    try {
                        pause = round(waiting);
                    } catch (OutOfMemoryError _) {
                        pause = PAUSE_MILLIS;
                    }
                }
                Thread.sleep(pause);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // no caller has this thread to interrupt it; the scalar loops stay then
        }
    }

    /**
     * Runs a batch of every loop that waits, once there is one. Returns how many milliseconds to leave to the JVM's
     * compiler.
     */
    private static int round(List<HotLoop> waiting) throws InterruptedException {
        if (waiting.isEmpty()) {
            HotLoop first = REQUESTS.take();
            waiting.add(first);
        }
        REQUESTS.drainTo(waiting);
        int most = 0;
        for (HotLoop loop : waiting) {
            long start = System.nanoTime();
            loop.batch();
            most = Math.max(most, loop.batches());
            if (RUNNING.get() > 0) {
                LockSupport.parkNanos(REST * (System.nanoTime() - start));
            }
        }
        for (int i = waiting.size() - 1; i >= 0; i--) {
            if (!waiting.get(i).isWaiting()) {
                waiting.remove(i);
                PENDING.decrementAndGet();
            }
        }
        // the compiler has what it needs after some dozen batches; then it is the compiler we wait for
        return 1 + most / 10;
    }
}
