package dev.tenon.cuda.collective;

import dev.tenon.collective.ArgumentChecks;
import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.runtime.Engine;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.nativelib.nccl.NcclLibrary;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Ranks that are the devices of one process. A thread for each takes its rank's {@link #communicator} and calls, or one
 * thread drives all by {@link #together}.
 *
 * <p>Short sums (up to {@link OneShotRank#MOST_BYTES}) in device memory go over peer memory where the devices allow it,
 * everything else through NCCL. Thread-safe. To be closed before contexts that it was given; the caller's they stay.
 */
public final class GpuGroup implements AutoCloseable {
    private final List<GpuCommunicator> ranks;
    private final List<GpuContext> contexts;
    private final boolean ownContexts;
    private final @Nullable OneShotGroup oneShot;
    private final String withoutOneShot;
    private final Fate fate;
    private boolean closed;

    private GpuGroup(
            List<GpuCommunicator> ranks,
            List<GpuContext> contexts,
            boolean ownContexts,
            @Nullable OneShotGroup oneShot,
            String withoutOneShot,
            Fate fate) {
        this.ranks = List.copyOf(ranks);
        this.fate = fate;
        this.contexts = List.copyOf(contexts);
        this.ownContexts = ownContexts;
        this.oneShot = oneShot;
        this.withoutOneShot = withoutOneShot;
    }

    /** Why there are no collectives between GPUs here, and what to do; empty where there are. Never throws. */
    public static String unavailable() {
        return NcclLibrary.unavailable();
    }

    /**
     * Joins devices: rank {@code i} is on the {@code i}th.
     *
     * @param platform whose compiler serves the all-reduce over peer memory
     * @param contexts each of another device
     * @throws UnsupportedException where there is no NCCL, saying what was tried
     * @throws dev.tenon.core.error.CollectiveTimeoutException when NCCL does not join them in time
     */
    public static GpuGroup open(GpuPlatform platform, List<GpuContext> contexts, GpuCollectiveOptions options) {
        return open(platform, contexts, options, false);
    }

    /**
     * Joins the devices of runtimes, whose tensors the ranks take: rank {@code i} is on the {@code i}th's.
     *
     * @param runtimes each for another GPU; the caller's they stay, to be closed before or after the group
     * @throws InputException for runtimes that are not each on a GPU of its own
     * @throws UnsupportedException where there is no NCCL, saying what was tried
     * @throws dev.tenon.core.error.CollectiveTimeoutException when NCCL does not join them in time
     */
    public static GpuGroup open(List<Engine> runtimes, GpuCollectiveOptions options) {
        return RankDevices.open(runtimes, (platform, contexts) -> open(platform, contexts, options, true));
    }

    private static GpuGroup open(
            GpuPlatform platform, List<GpuContext> contexts, GpuCollectiveOptions options, boolean ownContexts) {
        String unavailable = unavailable();
        if (!unavailable.isEmpty()) {
            throw new UnsupportedException(unavailable);
        }
        long devices = contexts.stream()
                .map(context -> context.device().ordinal())
                .distinct()
                .count();
        if (contexts.isEmpty() || devices < contexts.size()) {
            throw new InputException("a group of " + contexts.size() + " rank(s) on " + devices
                    + " device(s); each rank needs a device of its own");
        }
        String without = !options.oneShot()
                ? "turned off by the options"
                : platform.compiler().unavailable().isEmpty()
                        ? OneShotGroup.unavailable(contexts)
                        : platform.compiler().unavailable();
        Fate fate = new Fate();
        long[] comms = Joining.all(contexts, options.deadline());
        List<NcclHandle> handles = new ArrayList<>();
        for (int rank = 0; rank < comms.length; rank++) {
            handles.add(new NcclHandle(comms[rank], contexts.get(rank), rank, comms.length, fate, options.timeout()));
        }
        List<GpuCommunicator> ranks = new ArrayList<>();
        OneShotGroup oneShot = null;
        try {
            if (without.isEmpty()) {
                oneShot = OneShotGroup.open(contexts, platform.compiler(), OneShotGroup.Form.FAST);
            }
            for (NcclHandle handle : handles) {
                OneShotRank shortcut = oneShot == null ? null : oneShot.rank(handle.rank);
                if (shortcut != null) {
                    fate.onBreak(shortcut::stop);
                }
                ranks.add(new GpuCommunicator(new RankState(handle, shortcut), options, () -> {}));
            }
            return new GpuGroup(ranks, contexts, ownContexts, oneShot, without, fate);
        } catch (RuntimeException | Error e) { // the caller gets no group that it could close
            giveUp(handles, ranks, contexts, oneShot);
            throw e;
        }
    }

    private static void giveUp(
            List<NcclHandle> handles,
            List<GpuCommunicator> ranks,
            List<GpuContext> contexts,
            @Nullable OneShotGroup oneShot) {
        for (GpuCommunicator rank : ranks) {
            Thread _ = rank.beginClose();
        }
        Leaving.leave(handles.stream().map(NcclHandle::closing).toList(), contexts, () -> {
            ranks.forEach(GpuCommunicator::endClose);
            if (oneShot != null) {
                oneShot.close();
            }
        });
    }

    public int world() {
        return ranks.size();
    }

    public GpuCommunicator communicator(int rank) {
        ArgumentChecks.requireRank("communicator", "it", rank, world());
        return ranks.get(rank);
    }

    /** Why short sums do not go over peer memory; empty where they do. */
    public String withoutOneShot() {
        return withoutOneShot;
    }

    /**
     * One thread for all ranks: collectives on device memory that the code calls, of any rank, are checked at once and
     * enqueued together when it ends. If it fails, none is.
     *
     * @throws InputException within itself, and from within for collectives of host memory
     */
    public void together(Runnable calls) {
        NcclBatch.run(calls);
    }

    /**
     * Leaves, once the work that is under way is done; work that does not end within the timeout is ended, and what
     * even then is not let go is left behind. Idempotent.
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        // all devices before any rank: a rank's kernels write the other ranks' workspaces, and NCCL waits for work
        // that cannot be aborted once it has been told to leave
        if (!fate.isBroken() && !Leaving.idle(contexts, communicator(0).timeout())) {
            fate.breakUp(rank -> new CollectiveTimeoutException(
                    "rank " + rank + ": the group was closed while work on its devices did not end"));
        }
        List<GpuCommunicator> leaving = new ArrayList<>();
        List<Thread> closing = new ArrayList<>();
        for (GpuCommunicator rank : ranks) {
            Thread thread = rank.beginClose();
            if (thread != null) {
                leaving.add(rank);
                closing.add(thread);
            }
        }
        Leaving.leave(closing, contexts, () -> {
            leaving.forEach(GpuCommunicator::endClose);
            if (oneShot != null) {
                oneShot.close();
            }
            if (ownContexts) {
                contexts.forEach(GpuContext::close);
            }
        });
    }
}
