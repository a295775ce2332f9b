package dev.tenon.cuda.collective;

import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.cuda.backend.GpuResident;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuStream;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What a rank owns on its device: NCCL's communicator, a stream, marks in streams; and how it waits. One thread at a
 * time, but for {@link #look}.
 */
final class RankState implements Watchdog.Watched {
    private static final int SPINS = 20_000;
    private static final int LOOK_EVERY = 256;
    private static final long NAP_NANOS = 50_000;

    final NcclHandle nccl;
    final GpuStream stream;
    final @Nullable OneShotRank oneShot;
    /** Whether what was enqueued has come to something, for tensors that it changes. */
    final Runnable outcome;
    /** Tensors that work which nobody has waited for may be under way on. */
    final Set<GpuResident> used = ConcurrentHashMap.newKeySet();

    private final GpuEvent waited;
    private final GpuEvent marked;
    /** When the work before {@link #marked} was enqueued; 0 when it is done. */
    private volatile long markedAt;

    private volatile boolean closed;

    RankState(NcclHandle nccl, @Nullable OneShotRank oneShot) {
        this.nccl = nccl;
        this.oneShot = oneShot;
        Fate fate = nccl.fate;
        int rank = nccl.rank;
        outcome = () -> fate.check(rank);
        GpuContext context = nccl.context;
        stream = context.newStream();
        waited = context.newEvent(false);
        marked = context.newEvent(false);
    }

    /** @throws ClosedException after close @throws dev.tenon.core.error.CollectiveException when the group is broken */
    void check() {
        nccl.fate.check(nccl.rank);
        if (closed) {
            throw new ClosedException("rank " + nccl.rank + " has left the group");
        }
    }

    /** Enqueues outside of {@link NcclBatch}es. */
    void enqueue(DeviceWork work) {
        nccl.order().lock();
        nccl.begin();
        try {
            work.enqueue(nccl);
        } finally {
            nccl.end();
            nccl.order().unlock();
        }
        mark(work.stream());
    }

    /**
     * Lets the watchdog see whether the work enqueued so far ends in time. What is recorded into a graph runs when the
     * graph does: {@link #await} minds that.
     */
    void mark(GpuStream on) {
        if (!on.capturing()) {
            on.record(marked);
            markedAt = System.nanoTime() | 1; // 0 is for none
        }
    }

    /**
     * Waits until everything on a stream is done.
     *
     * @throws CollectiveTimeoutException at the deadline; the group is then broken
     */
    void await(GpuStream on, String what, long deadline) {
        if (on.capturing()) {
            throw new CaptureException(what + ": a stream that captures cannot be waited for");
        }
        check();
        on.record(waited);
        for (int looks = 1; !waited.passed(); looks++) {
            nccl.fate.check(nccl.rank);
            if (looks % LOOK_EVERY == 0) {
                nccl.look();
                if (System.nanoTime() - deadline >= 0) {
                    overdue(what);
                }
                if (Thread.currentThread().isInterrupted()) {
                    nccl.fate.breakUp(at -> new CollectiveAbortedException(
                            what + ": rank " + nccl.rank + " was interrupted while it waited; the group is broken"));
                }
            }
            if (looks < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
        nccl.fate.check(nccl.rank); // an abort ends the work too, without its result
        used.forEach(tensor -> tensor.confirm(on, outcome));
    }

    private void overdue(String what) {
        String text = what + ": rank " + nccl.rank + " of " + nccl.world + " was not done after "
                + nccl.timeout.toMillis() + " ms: not all ranks have called, or one has died; the group is broken";
        nccl.fate.breakUp(_ -> new CollectiveTimeoutException(text));
        nccl.fate.check(nccl.rank);
    }

    @Override
    public void look() {
        if (nccl.fate.isBroken()) {
            return;
        }
        nccl.look();
        used.removeIf(GpuResident::idle); // which notes that the work has ended while the group is whole
        long since = markedAt;
        if (since != 0) {
            if (marked.passed()) {
                if (markedAt == since) {
                    markedAt = 0;
                }
            } else if (System.nanoTime() - since > nccl.timeout.toNanos()) {
                String text = "rank " + nccl.rank + " of " + nccl.world + ": a collective was not done "
                        + nccl.timeout.toMillis() + " ms after it was enqueued; the group is broken";
                nccl.fate.breakUp(_ -> new CollectiveTimeoutException(text));
            }
        }
    }

    /**
     * First half of leaving, for all ranks of a process before the second of any. Work that is still under way after
     * the timeout breaks the group: NCCL would wait for it without an end, and what it waits for cannot be aborted any
     * more. Returns null the second time.
     */
    @Nullable
    Thread beginClose() {
        synchronized (this) {
            if (closed) {
                return null;
            }
            closed = true;
        }
        try {
            if (!nccl.fate.isBroken() && !Leaving.idle(List.of(nccl.context), nccl.timeout)) {
                nccl.fate.breakUp(at -> new CollectiveTimeoutException(
                        "rank " + at + ": rank " + nccl.rank + " was closed while work on its device did not end"));
            }
        } finally {
            Watchdog.remove(this);
        }
        return nccl.closing();
    }

    void endClose() {
        used.clear();
        waited.close();
        marked.close();
        stream.close();
    }
}
