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
    private static final List<Watched> RANKS = new CopyOnWriteArrayList<>();

    private static boolean running;

    /** What is looked after. */
    interface Watched {
        /** Breaks up a group whose calls or work have taken too long. */
        void look();
    }

    private Watchdog() {}

    /** Looks after a rank from now on; not after one whose thread could not be started. */
    static void add(Watched rank) {
        synchronized (RANKS) {
            if (!running) {
                Thread.ofPlatform().daemon().name("tenon-collective-watchdog").start(Watchdog::run);
                running = true;
            }
            RANKS.add(rank);
        }
    }

    static void remove(Watched rank) {
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
            try {
                for (Watched rank : RANKS) {
                    look(rank);
                }
            } catch (OutOfMemoryError e) {
                // looked at again in a moment: a thread that dies here would leave every later fault unseen
            }
            LockSupport.parkNanos(PERIOD_NANOS);
        }
    }

    private static void look(Watched rank) {
        try {
            rank.look();
        } catch (RuntimeException | Error e) {
            // a rank or a context that has been closed meanwhile; whoever uses it is told by the call itself
            System.getLogger(Watchdog.class.getName()).log(System.Logger.Level.DEBUG, "looking at a rank", e);
        }
    }
}
