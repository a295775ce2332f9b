package dev.tenon.collective.inprocess;

import dev.tenon.collective.ArgumentChecks;
import dev.tenon.collective.Communicator;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Ranks that are threads of this process. {@link #run} gives every rank a task on a thread of its own, which the group
 * keeps; or callers take each rank's {@link #communicator} to threads of theirs.
 *
 * <p>Thread-safe; a group does one {@link #run} at a time. A rank's task may take communicators and close the group,
 * but not run it.
 */
public final class InProcessGroup implements AutoCloseable {
    /** The most ranks of a group. */
    public static final int LARGEST_WORLD = 4096;

    /** The group whose task a thread is at. */
    private static final ThreadLocal<InProcessGroup> AT_WORK_FOR = new ThreadLocal<>();

    /** What a rank does. */
    @FunctionalInterface
    public interface RankTask {
        void run(Communicator communicator) throws Exception;
    }

    private final int world;
    private final InProcessOptions options;
    /** Held by a run from start to end, so by nothing that a rank's task may call. */
    private final ReentrantLock runs = new ReentrantLock();

    private final List<ExecutorService> threads = new ArrayList<>();
    private InProcessCommunicator[] ranks;
    private boolean closed;

    private InProcessGroup(int world, InProcessOptions options) {
        this.world = world;
        this.options = options;
        ranks = newRanks();
    }

    /** A group of {@code world} ranks. @throws InputException when that is not 1 to 4096 */
    public static InProcessGroup open(int world, InProcessOptions options) {
        Require.nonNull(options, "options");
        if (world < 1 || world > LARGEST_WORLD) {
            throw new InputException("a world has 1 to " + LARGEST_WORLD + " ranks, got " + world);
        }
        return new InProcessGroup(world, options);
    }

    /** A group with the default options. */
    public static InProcessGroup open(int world) {
        return open(world, InProcessOptions.defaults());
    }

    private InProcessCommunicator[] newRanks() {
        GroupState state = new GroupState(world, options);
        InProcessCommunicator[] made = new InProcessCommunicator[world];
        for (int rank = 0; rank < world; rank++) {
            made[rank] = new InProcessCommunicator(rank, state);
        }
        return made;
    }

    public int world() {
        return world;
    }

    /** A rank's communicator, good until the next {@link #run} begins. */
    public Communicator communicator(int rank) {
        ArgumentChecks.requireRank("communicator", "it", rank, world);
        return current(rank);
    }

    private synchronized InProcessCommunicator current(int rank) {
        return ranks[rank];
    }

    /**
     * Runs a task on every rank, each on its own thread, and waits for all. A rank whose task ended, well or not,
     * counts as gone: others that wait for it fail at once. The next run starts with fresh communicators, whatever
     * became of this one.
     *
     * @throws CollectiveAbortedException with the failure of the first rank whose own fault it was as the cause, unless
     *     that is of Tenon's family: then it is thrown itself
     * @throws InputException from within a task of this group, which would wait for itself
     */
    public void run(RankTask task) {
        Require.nonNull(task, "task");
        if (AT_WORK_FOR.get() == this) {
            throw new InputException("a rank's task cannot run its own group: the group is at that task");
        }
        runs.lock();
        try {
            List<Future<?>> running = start(task);
            Throwable failure = null;
            for (Future<?> rank : running) {
                failure = graver(failure, failureOf(rank));
            }
            switch (failure) {
                case null -> {}
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                default -> throw new CollectiveAbortedException("a rank's task failed: " + failure, failure);
            }
        } finally {
            runs.unlock();
        }
    }

    private synchronized List<Future<?>> start(RankTask task) {
        if (closed) {
            throw new ClosedException("the group is closed");
        }
        while (threads.size() < world) {
            int rank = threads.size();
            threads.add(Executors.newSingleThreadExecutor(
                    Thread.ofPlatform().daemon().name("tenon-rank-" + rank).factory()));
        }
        ranks = newRanks();
        List<Future<?>> running = new ArrayList<>();
        for (int rank = 0; rank < world; rank++) {
            InProcessCommunicator communicator = ranks[rank];
            running.add(threads.get(rank).submit(() -> runRank(task, communicator), null));
        }
        return running;
    }

    private void runRank(RankTask task, InProcessCommunicator communicator) {
        AT_WORK_FOR.set(this);
        try {
            task.run(communicator);
            communicator.leave("ended its task", null);
        } catch (Throwable e) {
            communicator.leave("failed: " + e, e);
            throw sneaky(e);
        } finally {
            AT_WORK_FOR.remove();
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // the executor takes any throwable to the future
    private static <E extends Throwable> RuntimeException sneaky(Throwable e) throws E {
        throw (E) e;
    }

    private @Nullable Throwable failureOf(Future<?> rank) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    rank.get();
                    return null;
                } catch (ExecutionException e) {
                    return e.getCause();
                } catch (InterruptedException _) {
                    interrupted = true;
                    current(0).abort("the thread that runs the group was interrupted");
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** A rank's own fault tells more than what followed from it on the others. */
    private static @Nullable Throwable graver(@Nullable Throwable one, @Nullable Throwable other) {
        return other == null || (one != null && !(one instanceof CollectiveException))
                ? one
                : one == null || !(other instanceof CollectiveException) ? other : one;
    }

    /** Ranks that wait are told, and none is run any more; threads end with the tasks that they are at. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        for (InProcessCommunicator rank : ranks) {
            rank.close();
        }
        threads.forEach(ExecutorService::shutdown);
    }
}
