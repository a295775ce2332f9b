package dev.tenon.mpi;

import dev.tenon.collective.ArgumentChecks;
import dev.tenon.collective.Buffer;
import dev.tenon.collective.Chunks;
import dev.tenon.collective.Communicator;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.collective.Request;
import dev.tenon.collective.reduce.Arithmetic;
import dev.tenon.core.error.InputException;
import dev.tenon.nativelib.mpi.Mpi;
import dev.tenon.nativelib.mpi.MpiHandles;
import dev.tenon.nativelib.mpi.MpiLibrary;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A rank that is a process, started by {@code mpirun}, over Open MPI's non-blocking operations. One for the life of the
 * process. Vectors of any length go through in blocks; elements are copied out of the heap and back.
 *
 * <p>What differs from ranks in one process: a timeout breaks the communicator, because MPI cannot take an operation
 * back; {@link #abort} ends all processes of the job, as does a process that dies under {@code mpirun}.
 */
public final class MpiCommunicator implements Communicator {
    /** Elements in flight at once: bounds what is staged to 32 or 64 MiB. */
    private static final int BLOCK = 1 << 23;

    private static final long PAUSE_NANOS = 1_000_000;

    private final MpiSession session;
    private final Agreement agreement;
    private final HostStaging sending = new HostStaging();
    private final HostStaging receiving = new HostStaging();
    private final AtomicReference<@Nullable Thread> caller = new AtomicReference<>();

    private MpiCommunicator(MpiSession session) {
        this.session = session;
        agreement = new Agreement(session);
    }

    /** Whether there is Open MPI on this machine. */
    public static boolean isPresent() {
        return MpiLibrary.search().opened().isPresent();
    }

    /** Where Open MPI is; or what was tried, and what to do. */
    public static String state() {
        return MpiLibrary.search().opened().map(Object::toString).orElseGet(MpiLibrary.search()::reason);
    }

    /**
     * Joins the job.
     *
     * @throws dev.tenon.core.error.NativeException saying what was tried when there is no Open MPI
     * @throws dev.tenon.core.error.ClosedException the second time in a process
     */
    public static MpiCommunicator open(MpiOptions options) {
        return new MpiCommunicator(MpiSession.open(options.timeout()));
    }

    @Override
    public int rank() {
        return session.rank();
    }

    @Override
    public int world() {
        return session.world();
    }

    @Override
    public Duration timeout() {
        return session.timeout();
    }

    @Override
    public void allReduce(Buffer source, Buffer target, ReduceOp op) {
        exclusively(deadline -> {
            agreement.reach(deadline, () -> Checks.allReduce(source, target, op));
            reduce(Arithmetic.of(source.dtype(), op), (HostBuffer) source, (HostBuffer) target, op, deadline);
        });
    }

    private <A> void reduce(Arithmetic<A> kernel, HostBuffer source, HostBuffer target, ReduceOp op, long deadline) {
        Carrier<A> carrier = Carrier.of(kernel, op);
        for (long at = 0; at < source.length(); at += BLOCK) {
            int count = (int) Math.min(BLOCK, source.length() - at);
            MemorySegment memory = receiving.of((long) count * carrier.bytes());
            carrier.pack(source, at, memory, count);
            session.await(
                    "allReduce",
                    deadline,
                    request -> Mpi.MPI_Iallreduce(
                            MpiHandles.IN_PLACE,
                            memory.address(),
                            count,
                            carrier.type(),
                            carrier.operation(),
                            session.communicator(),
                            request));
            carrier.unpack(memory, target, at, count, world());
        }
    }

    @Override
    public void reduceScatter(Buffer source, Buffer target, ReduceOp op) {
        exclusively(deadline -> {
            agreement.reach(deadline, () -> Checks.reduceScatter(source, target, op, rank(), world()));
            scatter(Arithmetic.of(source.dtype(), op), (HostBuffer) source, (HostBuffer) target, op, deadline);
        });
    }

    private <A> void scatter(Arithmetic<A> kernel, HostBuffer source, HostBuffer target, ReduceOp op, long deadline) {
        Carrier<A> carrier = Carrier.of(kernel, op);
        int length = (int) source.length();
        MemorySegment all = sending.of((long) length * carrier.bytes());
        MemorySegment mine = receiving.of(target.length() * carrier.bytes());
        MemorySegment counts = Counts.of(new Chunks(length, world()));
        carrier.pack(source, 0, all, length);
        session.await(
                "reduceScatter",
                deadline,
                request -> Mpi.MPI_Ireduce_scatter(
                        all.address(),
                        mine.address(),
                        counts.address(),
                        carrier.type(),
                        carrier.operation(),
                        session.communicator(),
                        request));
        carrier.unpack(mine, target, 0, (int) target.length(), world());
    }

    @Override
    public void allGather(Buffer source, Buffer target) {
        exclusively(deadline -> {
            agreement.reach(deadline, () -> Checks.allGather(source, target, rank(), world()));
            HostBuffer from = (HostBuffer) source;
            HostBuffer to = (HostBuffer) target;
            Chunks chunks = new Chunks(to.length(), world());
            MemorySegment mine = sending.of(from.memory().byteSize()).copyFrom(from.memory());
            MemorySegment all = receiving.of(to.memory().byteSize());
            MemorySegment counts = Counts.of(chunks);
            MemorySegment starts = Counts.starts(chunks);
            long type = MpiHandles.integer(from.dtype().bytes());
            session.await(
                    "allGather",
                    deadline,
                    request -> Mpi.MPI_Iallgatherv(
                            mine.address(),
                            (int) from.length(),
                            type,
                            all.address(),
                            counts.address(),
                            starts.address(),
                            type,
                            session.communicator(),
                            request));
            to.memory().copyFrom(all);
        });
    }

    @Override
    public void broadcast(Buffer data, int root) {
        exclusively(deadline -> {
            agreement.reach(deadline, () -> Checks.broadcast(data, root, rank(), world()));
            HostBuffer buffer = (HostBuffer) data;
            long type = MpiHandles.integer(buffer.dtype().bytes());
            for (long at = 0; at < buffer.length(); at += BLOCK) {
                HostBuffer block = buffer.slice(at, Math.min(BLOCK, buffer.length() - at));
                MemorySegment memory = sending.of(block.memory().byteSize()).copyFrom(block.memory());
                session.await(
                        "broadcast",
                        deadline,
                        request -> Mpi.MPI_Ibcast(
                                memory.address(), (int) block.length(), type, root, session.communicator(), request));
                if (rank() != root) {
                    block.memory().copyFrom(memory);
                }
            }
        });
    }

    @Override
    public void sendRecv(Buffer send, int to, Buffer receive, int from) {
        exclusively(deadline -> {
            session.check();
            ArgumentChecks.requireRank("sendRecv", "the receiver", to, world());
            ArgumentChecks.requireRank("sendRecv", "the sender", from, world());
            ArgumentChecks.requireGiven("sendRecv", "send", send);
            ArgumentChecks.requireGiven("sendRecv", "receive", receive);
            HostBuffer out = Checks.host("sendRecv", send);
            HostBuffer in = Checks.target("sendRecv", receive);
            new Exchange(session, sending, receiving).sendRecv(out, to, in, from, deadline);
        });
    }

    @Override
    public void barrier() {
        // reaching an agreement is one: nobody has it before everybody has spoken
        exclusively(deadline -> agreement.reach(deadline, () -> Request.BARRIER));
    }

    /** Ends all processes of the job, this one too. */
    @Override
    public void abort(String reason) {
        session.abort(reason);
    }

    /**
     * Finalises MPI; waits for an operation that another thread is in, which its timeout ends, and for the other ranks
     * to do the same.
     */
    @Override
    public void close() {
        while (!caller.compareAndSet(null, Thread.currentThread())) {
            LockSupport.parkNanos(PAUSE_NANOS); // MPI does not bear to be asked after it was finalised
        }
        try {
            session.close();
        } finally {
            caller.set(null);
        }
    }

    private interface Work {
        void until(long deadline);
    }

    private void exclusively(Work work) {
        Thread other = caller.compareAndExchange(null, Thread.currentThread());
        if (other != null) {
            throw new InputException("rank " + rank() + " is in an operation on thread " + other.getName()
                    + "; a rank does one at a time");
        }
        try {
            work.until(System.nanoTime() + timeout().toNanos());
        } finally {
            caller.set(null);
        }
    }

    /** The sizes of chunks as MPI takes them. */
    private static final class Counts {
        private Counts() {}

        static MemorySegment of(Chunks chunks) {
            return ints(chunks.world(), chunk -> (int) chunks.size(chunk));
        }

        static MemorySegment starts(Chunks chunks) {
            return ints(chunks.world(), chunk -> (int) chunks.start(chunk));
        }

        private static MemorySegment ints(int count, java.util.function.IntUnaryOperator number) {
            MemorySegment memory = java.lang.foreign.Arena.ofAuto().allocate(ValueLayout.JAVA_INT, count);
            for (int i = 0; i < count; i++) {
                memory.setAtIndex(ValueLayout.JAVA_INT, i, number.applyAsInt(i));
            }
            return memory;
        }
    }
}
