package dev.tenon.mpi;

import dev.tenon.collective.Request;
import dev.tenon.nativelib.mpi.Mpi;
import dev.tenon.nativelib.mpi.MpiHandles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Supplier;

/**
 * MPI does not look whether ranks mean the same; so before elements move, all ranks tell each other what they ask for.
 */
final class Agreement {
    private final MpiSession session;
    private final MemorySegment own;
    private final MemorySegment all;

    Agreement(MpiSession session) {
        this.session = session;
        Arena arena = Arena.ofAuto();
        own = arena.allocate(ValueLayout.JAVA_LONG, Request.NUMBERS);
        all = arena.allocate(ValueLayout.JAVA_LONG, (long) Request.NUMBERS * session.world());
    }

    /**
     * Makes this rank's request and compares it with the others'.
     *
     * @throws CollectiveMismatchException on every rank when they differ, or when one rank's call is wrong in itself:
     *     there its own exception
     */
    void reach(long deadline, Supplier<Request> maker) {
        session.check();
        Request request;
        try {
            request = maker.get();
        } catch (RuntimeException | Error e) {
            exchange(deadline, Request.REFUSED);
            throw e;
        }
        exchange(deadline, request);
        for (int rank = 0; rank < session.world(); rank++) {
            request.requireSame(session.rank(), rank, read(rank));
        }
    }

    private void exchange(long deadline, Request request) {
        MemorySegment.copy(request.numbers(), 0, own, ValueLayout.JAVA_LONG, 0, Request.NUMBERS);
        long type = MpiHandles.integer(8);
        session.await(
                request.name(),
                deadline,
                cell -> Mpi.MPI_Iallgather(
                        own.address(),
                        Request.NUMBERS,
                        type,
                        all.address(),
                        Request.NUMBERS,
                        type,
                        session.communicator(),
                        cell));
    }

    private Request read(int rank) {
        long[] numbers = new long[Request.NUMBERS];
        MemorySegment.copy(all, ValueLayout.JAVA_LONG, 8L * Request.NUMBERS * rank, numbers, 0, numbers.length);
        return Request.of(numbers);
    }
}
