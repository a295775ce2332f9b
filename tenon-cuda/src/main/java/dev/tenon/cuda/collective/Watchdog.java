package dev.tenon.cuda.collective;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * Looks after all open ranks of the process from a thread of its own: whoever is stuck inside a call, or has enqueued
 * work that nobody waits for, cannot look at a clock. Runs while there are ranks.
 */
final class Watchdog {
    private static final long PERIOD_NANOS = 50_000_000;
    private static final List<RankState> RANKS = new CopyOnWriteArrayList<>();

    private static boolean running;

    private Watchdog() {}

    static void add(RankState rank) {
        synchronized (RANKS) {
            RANKS.add(rank);
            if (!running) {
                running = true;
                Thread.ofPlatform().daemon().name("tenon-collective-watchdog").start(Watchdog::run);
            }
        }
    }

    static void remove(RankState rank) {
        RANKS.remove(rank);
    }

    private static void run() {
        while (true) {
            synchronized (RANKS) {
                if (RANKS.isEmpty()) {
                    running = false;
                    return;
                }
            }
            for (RankState rank : RANKS) {
                try {
                    rank.look();
                } catch (RuntimeException e) {
                    // a rank or a context that was closed a moment ago; whoever uses it is told by the call itself
                    System.getLogger(Watchdog.class.getName()).log(System.Logger.Level.DEBUG, "looking at a rank", e);
                }
            }
            LockSupport.parkNanos(PERIOD_NANOS);
        }
    }
}
