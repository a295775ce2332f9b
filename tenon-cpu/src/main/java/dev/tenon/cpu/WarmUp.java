package dev.tenon.cpu;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A daemon thread that runs the {@link HotLoop}s which are waited for, in turn, until each is compiled. */
final class WarmUp {
    private static final LinkedBlockingQueue<HotLoop> REQUESTS = new LinkedBlockingQueue<>();
    private static final AtomicInteger PENDING = new AtomicInteger();
    private static @Nullable Thread thread;

    private WarmUp() {}

    static void add(HotLoop loop) {
        PENDING.incrementAndGet();
        REQUESTS.add(loop);
        start();
    }

    /** Loops that are asked for and not decided on. */
    static int pending() {
        return PENDING.get();
    }

    private static synchronized void start() {
        if (thread == null) {
            thread = new Thread(WarmUp::run, "tenon-cpu-warm-up");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static void run() {
        List<HotLoop> waiting = new ArrayList<>();
        try {
            while (true) {
                if (waiting.isEmpty()) {
                    waiting.add(REQUESTS.take());
                }
                REQUESTS.drainTo(waiting);
                int most = 0;
                for (HotLoop loop : waiting) {
                    loop.batch();
                    most = Math.max(most, loop.batches());
                }
                int before = waiting.size();
                waiting.removeIf(loop -> !loop.isWaiting());
                PENDING.addAndGet(waiting.size() - before);
                // the compiler has what it needs after some dozen batches; then it is the compiler we wait for
                Thread.sleep(1 + most / 10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody interrupts it; then the scalar loops stay
        }
    }
}
