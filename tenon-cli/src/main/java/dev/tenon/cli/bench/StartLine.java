package dev.tenon.cli.bench;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets threads go together, and knows when it did. Reusable; waits by giving the core away, so that all are awake when
 * it opens.
 */
final class StartLine {
    private final int threads;
    private final AtomicInteger arrived = new AtomicInteger();
    private volatile int openings;
    private volatile long openedAt;

    StartLine(int threads) {
        this.threads = threads;
    }

    /** Waits for the others. */
    @SuppressWarnings("ThreadPriorityCheck") // a bench wants its threads awake
    void pass() {
        int opening = openings;
        if (arrived.incrementAndGet() == threads) {
            arrived.set(0);
            openedAt = System.nanoTime();
            openings = opening + 1;
            return;
        }
        while (openings == opening) {
            Thread.yield();
        }
    }

    /** When it opened last, on the clock of {@link System#nanoTime}. */
    long openedAt() {
        return openedAt;
    }
}
