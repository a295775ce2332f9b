package dev.tenon.collective.inprocess;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How one rank waits: by looking again while there is a core for every rank, then by giving its core away, then asleep
 * until {@link #wake}.
 *
 * <p>One thread waits at a time; any may wake.
 */
final class Waiter {
    /**
     * About 20 µs. Where ranks outnumber cores the rank that is waited for may have no core to run on, and looking
     * again only keeps it off.
     */
    private static final int SPINS = 1000;

    /** Measured: fewer puts ranks to sleep that are about to be served, more keeps cores from other work. */
    private static final int YIELDS = 100;

    private final int spins;
    private final BooleanSupplier over;
    private volatile @Nullable Thread asleep;

    /** @param over whether the whole group is over, which ends every wait */
    Waiter(boolean coreForEveryRank, BooleanSupplier over) {
        this.over = over;
        spins = coreForEveryRank ? SPINS : 0;
    }

    /**
     * Waits for a condition; the thread that makes it true announces it with {@link #wake}.
     *
     * @param deadline on the clock of {@link System#nanoTime}
     * @return whether it holds; false at the deadline, when the group is over, or when the thread was interrupted,
     *     which it then still is
     */
    @SuppressWarnings("ThreadPriorityCheck") // the yields are for speed: sleep() is what makes it right
    boolean await(BooleanSupplier condition, long deadline) {
        for (int i = 0; i < spins; i++) {
            if (condition.getAsBoolean()) {
                return true;
            }
            Thread.onSpinWait();
        }
        for (int i = 0; i < YIELDS; i++) {
            if (condition.getAsBoolean()) {
                return true;
            }
            if ((i & 7) == 7 && (over.getAsBoolean() || System.nanoTime() - deadline >= 0)) {
                return condition.getAsBoolean();
            }
            Thread.yield();
        }
        return sleep(condition, deadline);
    }

    /**
     * Waits for the end of work that another rank does without waiting itself. The end comes whatever happens to the
     * group.
     */
    @SuppressWarnings("ThreadPriorityCheck") // short, and right without
    static void drain(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.yield();
        }
    }

    private boolean sleep(BooleanSupplier condition, long deadline) {
        asleep = Thread.currentThread();
        try {
            while (!condition.getAsBoolean()) {
                long left = deadline - System.nanoTime();
                if (left <= 0 || over.getAsBoolean() || Thread.currentThread().isInterrupted()) {
                    return condition.getAsBoolean();
                }
                LockSupport.parkNanos(this, left);
            }
            return true;
        } finally {
            asleep = null;
        }
    }

    /**
     * To be called after a volatile write that makes a condition true: either the waiter sees the write, or this sees
     * the waiter asleep.
     */
    void wake() {
        Thread thread = asleep;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }
}
