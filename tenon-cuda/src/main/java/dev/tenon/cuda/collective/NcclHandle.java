package dev.tenon.cuda.collective;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.TenonException;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.nativelib.nccl.Nccl;
import dev.tenon.nativelib.nccl.NcclConstants;
import dev.tenon.nativelib.nccl.NcclLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A rank's communicator in NCCL. Calls that enqueue are made one after the other for each device, whatever the
 * communicator: devices on which two threads enqueue in different orders wait for each other for ever.
 *
 * <p>Thread-safe. A call that NCCL holds up longer than the timeout is ended by the {@link Watchdog}, which breaks the
 * group.
 */
final class NcclHandle {
    /** A call on the communicator. */
    interface Call {
        /** @return NCCL's status */
        int on(long comm);
    }

    private static final System.Logger LOG = System.getLogger(NcclHandle.class.getName());
    private static final ConcurrentMap<Integer, ReentrantLock> ORDER = new ConcurrentHashMap<>();
    private static final long GRACE_NANOS = 200_000_000;
    private static final long PAUSE_NANOS = 1_000_000;

    final GpuContext context;
    final int rank;
    final int world;
    final Fate fate;
    final Duration timeout;
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment status = arena.allocate(ValueLayout.JAVA_INT);
    private final Held held;
    private final CountDownLatch gone = new CountDownLatch(1);
    private volatile long comm;
    private volatile long callingSince;

    NcclHandle(long comm, GpuContext context, int rank, int world, Fate fate, Duration timeout) {
        this.comm = comm;
        this.context = context;
        this.rank = rank;
        this.world = world;
        this.fate = fate;
        this.timeout = timeout;
        held = Held.add(
                "rank " + rank + " of " + world + " on device "
                        + context.device().ordinal(),
                "open");
        fate.onBreak(this::abort);
    }

    ReentrantLock order() {
        return ORDER.computeIfAbsent(context.device().ordinal(), _ -> new ReentrantLock());
    }

    /** From now on the watchdog minds this rank's call. */
    void begin() {
        callingSince = System.nanoTime() | 1; // 0 is for no call
    }

    void end() {
        callingSince = 0;
    }

    /** A call between {@link #begin} and {@link #end}, with the order held. */
    void run(String what, Call call) {
        fate.check(rank);
        context.makeCurrent();
        check(what, call.on(comm()));
    }

    /** What an answer of NCCL's means. */
    void check(String what, int answer) {
        if (answer == NcclConstants.SUCCESS) {
            return;
        }
        fate.check(rank); // the watchdog may have ended this very call
        broke(NcclLibrary.CHECK.message(answer, "%s on rank %d of %d", what, rank, world));
        fate.check(rank);
    }

    private long comm() {
        long open = comm;
        if (open == 0) {
            throw new ClosedException("rank " + rank + " has left the group");
        }
        return open;
    }

    /** Breaks the group when NCCL has met an error since, or holds up a call for too long. */
    void look() {
        long since = callingSince;
        if (since == 0) {
            int error = asyncError();
            if (error != NcclConstants.SUCCESS && error != NcclConstants.IN_PROGRESS) {
                broke(NcclLibrary.CHECK.message(error, "a collective under way on rank %d of %d", rank, world));
            }
        } else if (System.nanoTime() - since > timeout.toNanos()) {
            String text = "rank " + rank + " of " + world + ": NCCL has held up a call for " + timeout.toMillis()
                    + " ms: not all ranks have called; the group is broken";
            fate.breakUp(_ -> new CollectiveTimeoutException(text));
        }
    }

    private synchronized int asyncError() {
        if (comm == 0) {
            return NcclConstants.SUCCESS;
        }
        int answer = Nccl.ncclCommGetAsyncError(comm, status.address());
        return answer != NcclConstants.SUCCESS ? answer : status.get(ValueLayout.JAVA_INT, 0);
    }

    private void broke(String text) {
        fate.breakUp(at ->
                new CollectiveAbortedException(at == rank ? text : "rank " + at + ": the group is broken: " + text));
    }

    /**
     * Ends what is under way and lets go of the communicator, unless somebody else does already. A call in flight is
     * given a moment to come back by itself; if it is stuck, this is what frees it.
     */
    private void abort() {
        long asked = System.nanoTime();
        while (callingSince != 0 && System.nanoTime() - asked < GRACE_NANOS) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        long open = take("being aborted");
        if (open != 0) {
            Held.abortBegins();
            letGo("ncclCommAbort", Nccl::ncclCommAbort, open);
        }
    }

    /**
     * Leaves; on a thread of its own, for NCCL waits for what is under way, for the process's other ranks, and for
     * graphs that hold collectives. Never mixes with an abort: a communicator whose group is broken is aborted, and one
     * that is being aborted is waited for.
     */
    Thread closing() {
        return Leaving.start(() -> {
            if (fate.isBroken()) {
                abort();
            } else {
                long open = take("being left");
                if (open != 0) {
                    letGo("ncclCommDestroy", Nccl::ncclCommDestroy, open);
                }
            }
            try {
                gone.await(); // whoever took it
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** The communicator, for the one caller that is to let go of it; 0 for every other. */
    private synchronized long take(String state) {
        long open = comm;
        comm = 0;
        if (open != 0) {
            held.now(state);
        }
        return open;
    }

    private void letGo(String what, Call call, long open) {
        try {
            try {
                context.makeCurrent();
            } catch (TenonException e) {
                // lost or closed: its threads and sockets must go all the same, and NCCL finds its device by itself
                LOG.log(System.Logger.Level.DEBUG, what, e);
            }
            NcclLibrary.CHECK.check(call.on(open), "%s(rank=%d)", what, rank);
            held.gone();
        } catch (RuntimeException | Error e) {
            held.now(what + " failed: " + e.getMessage());
            throw e;
        } finally {
            gone.countDown();
        }
    }
}
