package dev.tenon.collective.inprocess;

import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveException;
import dev.tenon.core.error.CollectiveTimeoutException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the ranks of a group share. Thread-safe. */
final class GroupState {
    private final Waiter[] waiters;
    private final InProcessOptions options;
    private final AtomicReference<@Nullable Failure> broken = new AtomicReference<>();
    private final AtomicReferenceArray<@Nullable Departure> gone;
    private volatile boolean anyGone;
    final Links links;
    final Mailboxes mailboxes;
    final Round first;

    GroupState(int world, InProcessOptions options) {
        this.options = options;
        waiters = new Waiter[world];
        for (int rank = 0; rank < world; rank++) {
            waiters[rank] = new Waiter(world <= options.cores(), () -> broken.get() != null);
        }
        gone = new AtomicReferenceArray<>(world);
        links = new Links(waiters);
        mailboxes = new Mailboxes(this);
        first = new Round(world, 0);
    }

    int world() {
        return waiters.length;
    }

    InProcessOptions options() {
        return options;
    }

    Waiter waiter(int rank) {
        return waiters[rank];
    }

    void wakeAll() {
        for (Waiter waiter : waiters) {
            waiter.wake();
        }
    }

    /** Why the group is over; null while it is not. */
    @Nullable
    Failure broken() {
        return broken.get();
    }

    /** Ends the group, for this reason unless there was one before. */
    void breakUp(Failure why) {
        broken.compareAndSet(null, why);
        wakeAll();
    }

    /** Ends the group because a rank waited in vain: later calls, of any rank, fail at once. */
    void timedOut(int rank, CollectiveException overdue) {
        breakUp(at -> new CollectiveTimeoutException(
                "rank " + at + ": the group is over since rank " + rank + " gave up: " + overdue.getMessage(),
                overdue));
    }

    /** Why a rank will not come again; null while it may. */
    @Nullable
    Departure gone(int rank) {
        return gone.get(rank);
    }

    /** The departure of a rank that will not come to this round; null when all may. */
    @Nullable
    Departure missing(Round round) {
        if (anyGone) {
            for (int rank = 0; rank < world(); rank++) {
                Departure departure = gone.get(rank);
                if (departure != null && departure.missed() <= round.index()) {
                    return departure;
                }
            }
        }
        return null;
    }

    /**
     * A rank is not coming to this round, nor to any later one. Ranks that wait in it are told now, those that come
     * later when they come.
     */
    void leave(Departure departure, Round round) {
        gone.set(departure.departed(), departure);
        anyGone = true;
        for (Round later = round; later != null; later = later.made()) {
            later.fail(departure);
        }
        wakeAll();
    }

    /** What to throw when a wait ended without what was waited for. */
    CollectiveException silence(int rank, String operation, Supplier<String> overdue) {
        Failure why = broken.get();
        if (why != null) {
            return why.at(rank);
        }
        return Thread.currentThread().isInterrupted()
                ? new CollectiveAbortedException(operation + ": rank " + rank + " was interrupted while it waited")
                : new CollectiveTimeoutException(operation + ": " + overdue.get());
    }

    String timeoutText() {
        return text(options.timeout());
    }

    private static String text(Duration time) {
        return time.toMillis() % 1000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
    }
}
