package dev.tenon.mpi;

import dev.tenon.collective.HostBuffer;
import dev.tenon.core.error.CollectiveMismatchException;
import dev.tenon.core.ir.DType;
import dev.tenon.nativelib.mpi.Mpi;
import dev.tenon.nativelib.mpi.MpiHandles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A message out and a message in. Before, both sides of each tell the other what they send and what they expect, so
 * that a misfit is one error on both, and nothing moves.
 */
final class Exchange {
    private static final int SENT = 1;
    private static final int EXPECTED = 2;
    private static final int DATA = 3;
    private static final int NUMBERS = 2;

    private final MpiSession session;
    private final HostStaging sending;
    private final HostStaging receiving;

    Exchange(MpiSession session, HostStaging sending, HostStaging receiving) {
        this.session = session;
        this.sending = sending;
        this.receiving = receiving;
    }

    void sendRecv(HostBuffer out, int to, HostBuffer in, int from, long deadline) {
        Checks.countable("sendRecv", out);
        Checks.countable("sendRecv", in);
        Arena arena = Arena.ofAuto();
        MemorySegment mine = described(arena, out);
        MemorySegment wanted = described(arena, in);
        MemorySegment theirs = arena.allocate(ValueLayout.JAVA_LONG, NUMBERS);
        MemorySegment want = arena.allocate(ValueLayout.JAVA_LONG, NUMBERS);
        long type = MpiHandles.integer(8);
        long world = session.communicator();
        session.await(
                "sendRecv",
                deadline,
                request -> Mpi.MPI_Irecv(theirs.address(), NUMBERS, type, from, SENT, world, request),
                request -> Mpi.MPI_Irecv(want.address(), NUMBERS, type, to, EXPECTED, world, request),
                request -> Mpi.MPI_Isend(mine.address(), NUMBERS, type, to, SENT, world, request),
                request -> Mpi.MPI_Isend(wanted.address(), NUMBERS, type, from, EXPECTED, world, request));
        boolean sends = mine.mismatch(want) == -1;
        boolean receives = theirs.mismatch(wanted) == -1;
        move(out, to, sends, in, from, receives, deadline);
        if (!sends) {
            throw misfit(session.rank(), mine, to, want);
        }
        if (!receives) {
            throw misfit(from, theirs, session.rank(), wanted);
        }
    }

    /** The halves that fit go through, for the other side of each waits for it. */
    private void move(HostBuffer out, int to, boolean sends, HostBuffer in, int from, boolean receives, long deadline) {
        MemorySegment outgoing = sending.of(out.memory().byteSize()).copyFrom(out.memory());
        MemorySegment incoming = receiving.of(in.memory().byteSize());
        long world = session.communicator();
        MpiSession.Start receive = request -> Mpi.MPI_Irecv(
                incoming.address(),
                (int) in.length(),
                MpiHandles.integer(in.dtype().bytes()),
                from,
                DATA,
                world,
                request);
        MpiSession.Start send = request -> Mpi.MPI_Isend(
                outgoing.address(),
                (int) out.length(),
                MpiHandles.integer(out.dtype().bytes()),
                to,
                DATA,
                world,
                request);
        if (sends && receives) {
            session.await("sendRecv", deadline, receive, send);
        } else if (sends) {
            session.await("sendRecv", deadline, send);
        } else if (receives) {
            session.await("sendRecv", deadline, receive);
        }
        if (receives) {
            in.memory().copyFrom(incoming);
        }
    }

    @SuppressWarnings("EnumOrdinal") // the ranks of a job run one build
    private static MemorySegment described(Arena arena, HostBuffer buffer) {
        return arena.allocateFrom(ValueLayout.JAVA_LONG, buffer.dtype().ordinal(), buffer.length());
    }

    private static CollectiveMismatchException misfit(
            int sender, MemorySegment sent, int receiver, MemorySegment wanted) {
        return new CollectiveMismatchException("sendRecv: rank " + sender + " sends " + text(sent) + ", rank "
                + receiver + " receives " + text(wanted) + "; both must be the same (nothing was copied)");
    }

    @SuppressWarnings("EnumOrdinal")
    private static String text(MemorySegment described) {
        return described.getAtIndex(ValueLayout.JAVA_LONG, 1) + " "
                + DType.values()[(int) described.getAtIndex(ValueLayout.JAVA_LONG, 0)];
    }
}
