package dev.tenon.mpi;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.NativeException;
import dev.tenon.nativelib.mpi.Mpi;
import dev.tenon.nativelib.mpi.MpiHandles;
import dev.tenon.nativelib.mpi.MpiLibrary;
import dev.tenon.nativelib.mpi.MpiStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * This process's part in MPI: initialised once, finalised once. Requests are begun and then asked after, so that every
 * wait can end.
 *
 * <p>Thread-safety: calls into MPI are one at a time, under this object's lock.
 */
final class MpiSession {
    private static final System.Logger LOG = System.getLogger(MpiSession.class.getName());
    private static final int YIELDS = 1000;
    private static final long NAP_NANOS = 50_000;
    private static final List<List<Start>> UNENDED = new CopyOnWriteArrayList<>();
    private static boolean used;

    /** Begins an operation. */
    interface Start {
        /** @return MPI's status */
        int begin(long request);
    }

    private final Arena arena = Arena.ofAuto(); // requests that never ended may still point here
    private final MemorySegment request = arena.allocate(ValueLayout.JAVA_LONG, 4);
    private final MemorySegment flag = arena.allocate(ValueLayout.JAVA_INT);
    private final long communicator;
    private final Duration timeout;
    private final int rank;
    private final int world;
    private volatile @Nullable String broken;
    private volatile boolean closed;

    private MpiSession(Duration timeout) {
        this.timeout = timeout;
        MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
        MpiStatus.check(
                Mpi.MPI_Init_thread(0, 0, MpiHandles.THREAD_SERIALIZED, flag.address()), "MPI_Init_thread(SERIALIZED)");
        int provided = flag.get(ValueLayout.JAVA_INT, 0);
        if (provided < MpiHandles.THREAD_SERIALIZED) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Open MPI was built for one thread (level " + provided + "): use the communicator on this one");
        }
        // a copy, so that nobody else's messages are taken for ours
        MpiStatus.check(Mpi.MPI_Comm_dup(MpiHandles.commWorld(), out.address()), "MPI_Comm_dup(MPI_COMM_WORLD)");
        communicator = out.get(ValueLayout.JAVA_LONG, 0);
        MpiStatus.check(
                Mpi.MPI_Comm_set_errhandler(communicator, MpiHandles.errorsReturn()),
                "MPI_Comm_set_errhandler(RETURN)");
        MpiStatus.check(Mpi.MPI_Comm_rank(communicator, flag.address()), "MPI_Comm_rank");
        rank = flag.get(ValueLayout.JAVA_INT, 0);
        MpiStatus.check(Mpi.MPI_Comm_size(communicator, flag.address()), "MPI_Comm_size");
        world = flag.get(ValueLayout.JAVA_INT, 0);
    }

    /**
     * @throws NativeException when there is no Open MPI @throws ClosedException when it was used in this process before
     */
    static synchronized MpiSession open(Duration timeout) {
        if (MpiLibrary.search().opened().isEmpty()) {
            throw new NativeException(MpiLibrary.search().reason());
        }
        if (used) {
            throw new ClosedException("MPI can be opened once in a process; keep the communicator and pass it on");
        }
        used = true;
        return new MpiSession(timeout);
    }

    int rank() {
        return rank;
    }

    int world() {
        return world;
    }

    Duration timeout() {
        return timeout;
    }

    long communicator() {
        return communicator;
    }

    /**
     * Begins requests, each with a cell of its own (at most four), and waits for all. What the starts hold on to stays
     * until the requests end: for good, when they never do.
     */
    void await(String operation, long deadline, Start... starts) {
        check();
        try {
            for (int i = 0; i < starts.length; i++) {
                synchronized (this) {
                    MpiStatus.check(starts[i].begin(request.address() + 8L * i), operation + " on rank " + rank);
                }
            }
            for (int i = 0; i < starts.length; i++) {
                await(operation, deadline, request.address() + 8L * i);
            }
        } catch (RuntimeException | Error e) {
            UNENDED.add(List.of(starts)); // MPI may still write where they point
            if (broken == null) {
                broken = operation + ": rank " + rank + " failed in the middle: " + e.getMessage();
            }
            throw e;
        } finally {
            Reference.reachabilityFence(starts);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // for speed: right without
    private void await(String operation, long deadline, long pending) {
        for (int asked = 0; !test(operation, pending); asked++) {
            if (System.nanoTime() - deadline >= 0) {
                String overdue = operation + ": rank " + rank + " waited " + timeout.toMillis()
                        + " ms for the other ranks of " + world
                        + "; not all came, or not all finished; the communicator is broken, for MPI cannot take an operation back";
                broken = overdue;
                throw new CollectiveTimeoutException(overdue);
            }
            if (Thread.currentThread().isInterrupted()) {
                broken = operation + ": rank " + rank + " was interrupted while it waited; the communicator is broken";
                throw new CollectiveAbortedException(broken);
            }
            if (asked < YIELDS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(NAP_NANOS); // MPI moves nothing unless it is asked, so not for long
            }
        }
    }

    private synchronized boolean test(String operation, long pending) {
        MpiStatus.check(
                Mpi.MPI_Test(pending, flag.address(), MpiHandles.STATUS_IGNORE),
                "MPI_Test of " + operation + " on rank " + rank);
        return flag.get(ValueLayout.JAVA_INT, 0) != 0;
    }

    /** @throws ClosedException when closed @throws CollectiveAbortedException when broken, with the reason */
    void check() {
        if (closed) {
            throw new ClosedException("rank " + rank + " has left MPI");
        }
        if (broken != null) {
            throw new CollectiveAbortedException("rank " + rank + ": the communicator is broken: " + broken);
        }
    }

    /** Ends all processes of the job, this one too. */
    synchronized void abort(String reason) {
        LOG.log(System.Logger.Level.ERROR, "rank " + rank + " aborts the MPI job: " + reason);
        Mpi.MPI_Abort(communicator, 1);
    }

    /**
     * Finalises MPI, which waits for the other ranks to do so; not where an operation never ended, for that would wait
     * for ever.
     */
    synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (broken != null) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "MPI is left without MPI_Finalize, because an operation never ended: " + broken);
            return;
        }
        MpiStatus.check(Mpi.MPI_Finalize(), "MPI_Finalize on rank " + rank);
    }
}
