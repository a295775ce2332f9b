package dev.tenon.cuda.collective;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveTimeoutException;
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
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A rank's communicator in NCCL. Calls that enqueue are made one after the other for each device, whatever the communicator: devices on which two threads enqueue in different orders wait for each other for ever.
 *
 * <p>Thread-safe. A call that NCCL holds up longer than the timeout is ended by the {@link Watchdog}, which breaks the group.
 */
final class NcclHandle {
    /** A call that enqueues. */
    interface Call {
        /** @return NCCL's status */
        int on(long comm);
    }

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
    private volatile long comm;
    private volatile long callingSince;

    NcclHandle(long comm, GpuContext context, int rank, int world, Fate fate, Duration timeout) {
        this.comm = comm;
        this.context = context;
        this.rank = rank;
        this.world = world;
        this.fate = fate;
        this.timeout = timeout;
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

    /** Ends what is under way. A call in flight is given a moment to come back by itself; if it is stuck, this is what frees it. */
    private void abort() {
        long asked = System.nanoTime();
        while (callingSince != 0 && System.nanoTime() - asked < GRACE_NANOS) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        long open;
        synchronized (this) {
            open = comm;
            comm = 0;
        }
        if (open != 0) {
            context.makeCurrent();
            NcclLibrary.CHECK.check(Nccl.ncclCommAbort(open), "ncclCommAbort(rank=%d)", rank);
        }
    }

    /** Leaves; on a thread of its own, for NCCL waits for what is under way, for the process's other ranks, and for graphs that hold collectives. */
    Thread closing() {
        long open;
        synchronized (this) {
            open = comm;
            comm = 0;
        }
        return Leaving.start(() -> {
            if (open != 0) {
                context.makeCurrent();
                NcclLibrary.CHECK.check(Nccl.ncclCommDestroy(open), "ncclCommDestroy(rank=%d)", rank);
            }
        });
    }
}
