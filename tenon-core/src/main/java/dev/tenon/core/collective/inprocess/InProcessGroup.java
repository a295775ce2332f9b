package dev.tenon.core.collective.inprocess;

import dev.tenon.core.collective.Arguments;
import dev.tenon.core.collective.Communicator;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveException;
import dev.tenon.core.error.InputException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Ranks that are threads of this process. {@link #run} gives every rank a task on a thread of its own, which the group keeps; or callers take each rank's {@link #communicator} to threads of theirs.
 *
 * <p>Thread-safe; a group does one {@link #run} at a time.
 */
public final class InProcessGroup implements AutoCloseable {
    private static final int LARGEST_WORLD = 4096;

    /** What a rank does. */
    @FunctionalInterface
    public interface RankTask {
        void run(Communicator communicator) throws Exception;
    }

    private final int world;
    private final InProcessOptions options;
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
    public synchronized Communicator communicator(int rank) {
        Arguments.requireRank("communicator", "it", rank, world);
        return ranks[rank];
    }

    /**
     * Runs a task on every rank, each on its own thread, and waits for all. A rank whose task ended, well or not, counts as gone: others that wait for it fail at once. The next run starts with fresh communicators, whatever became of
     * this one.
     *
     * @throws CollectiveAbortedException with the failure of the first rank whose own fault it was as the cause, unless that is of Tenon's family: then it is thrown itself
     */
    public synchronized void run(RankTask task) {
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
    }

    private static void runRank(RankTask task, InProcessCommunicator communicator) {
        try {
            task.run(communicator);
            communicator.leave("ended its task", null);
        } catch (Throwable e) {
            communicator.leave("failed: " + e, e);
            throw sneaky(e);
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
                    ranks[0].abort("the thread that runs the group was interrupted");
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

    /** Ends the threads; ranks that wait are told. Idempotent. */
    @Override
    public void close() {
        for (InProcessCommunicator rank : ranks) {
            rank.close();
        }
        synchronized (this) {
            closed = true;
            threads.forEach(ExecutorService::shutdown);
        }
    }
}
