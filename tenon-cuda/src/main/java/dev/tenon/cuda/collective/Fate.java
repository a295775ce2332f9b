package dev.tenon.cuda.collective;

import dev.tenon.core.error.CollectiveException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Whether the ranks of this process still work together; once they do not, everything that is under way on their
 * devices is ended. Thread-safe.
 */
final class Fate {
    private static final System.Logger LOG = System.getLogger(Fate.class.getName());
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final AtomicReference<@Nullable IntFunction<CollectiveException>> broken = new AtomicReference<>();
    private final List<Runnable> endings = new CopyOnWriteArrayList<>();

    /** What ends a rank's work on its device; may block for a while. */
    void onBreak(Runnable ending) {
        endings.add(ending);
    }

    boolean isBroken() {
        return broken.get() != null;
    }

    /** @throws CollectiveException when the group is broken, in the words for this rank */
    void check(int rank) {
        IntFunction<CollectiveException> why = broken.get();
        if (why != null) {
            throw why.apply(rank);
        }
    }

    /**
     * Ends the group, for this reason unless there was one before; returns when the devices have let go, or after some
     * seconds.
     */
    void breakUp(IntFunction<CollectiveException> why) {
        if (!broken.compareAndSet(null, why)) {
            return;
        }
        // at the same time: NCCL frees the communicators of a process when the last of them is aborted
        List<Thread> steps = endings.stream().map(Leaving::start).toList();
        if (!Leaving.ended(steps, PATIENCE)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "a collective was not ended within " + PATIENCE.toSeconds() + " s; its device may stay busy; "
                            + Leaving.open());
        }
    }
}
