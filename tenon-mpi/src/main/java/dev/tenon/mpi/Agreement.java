package dev.tenon.mpi;

import dev.tenon.core.collective.ReduceOp;
import dev.tenon.core.error.CollectiveMismatchException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.nativelib.mpi.Mpi;
import dev.tenon.nativelib.mpi.MpiHandles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** MPI does not look whether ranks mean the same; so before elements move, all ranks tell each other what they ask for. */
final class Agreement {
    /** What all ranks do together; the order is what goes over the wire. */
    enum Operation {
        REFUSED("refused"),
        ALL_REDUCE("allReduce"),
        REDUCE_SCATTER("reduceScatter"),
        ALL_GATHER("allGather"),
        BROADCAST("broadcast"),
        BARRIER("barrier");

        final String text;

        Operation(String text) {
            this.text = text;
        }
    }

    /**
     * What one rank asks for.
     *
     * @param root -1 for operations without one
     */
    @SuppressWarnings("EnumOrdinal") // the ranks of a job run one build
    record Call(
            Operation operation,
            DType dtype,
            long length,
            @Nullable ReduceOp op,
            int root) {
        private static final int NUMBERS = 5;

        long[] numbers() {
            return new long[] {operation.ordinal(), dtype.ordinal(), length, op == null ? -1 : op.ordinal(), root};
        }

        static Call of(long[] numbers) {
            return new Call(
                    Operation.values()[(int) numbers[0]],
                    DType.values()[(int) numbers[1]],
                    numbers[2],
                    numbers[3] < 0 ? null : ReduceOp.values()[(int) numbers[3]],
                    (int) numbers[4]);
        }

        @Override
        public String toString() {
            return operation.text
                    + (operation == Operation.BARRIER ? "" : " of " + length + " " + dtype)
                    + (op == null ? "" : ", " + op)
                    + (root < 0 ? "" : ", root " + root);
        }
    }

    private static final Call REFUSED = new Call(Operation.REFUSED, DType.F32, 0, null, -1);

    private final MpiSession session;
    private final MemorySegment own;
    private final MemorySegment all;

    Agreement(MpiSession session) {
        this.session = session;
        Arena arena = Arena.ofAuto();
        own = arena.allocate(ValueLayout.JAVA_LONG, Call.NUMBERS);
        all = arena.allocate(ValueLayout.JAVA_LONG, (long) Call.NUMBERS * session.world());
    }

    /** Makes this rank's call and compares it with the others'. @throws CollectiveMismatchException on every rank when they differ, or when one rank's call is wrong in itself: there its own exception */
    Call reach(long deadline, Supplier<Call> maker) {
        session.check();
        Call call;
        try {
            call = maker.get();
        } catch (TenonException e) {
            exchange(deadline, REFUSED);
            throw e;
        }
        exchange(deadline, call);
        for (int rank = 0; rank < session.world(); rank++) {
            Call other = read(rank);
            if (!other.equals(call)) {
                throw new CollectiveMismatchException(call.operation().text + ": ranks disagree: rank " + session.rank()
                        + " asks for " + call + "; rank " + rank
                        + (other.equals(REFUSED) ? "'s call was refused" : " asks for " + other)
                        + "; every rank must ask for the same (nothing was moved)");
            }
        }
        return call;
    }

    private void exchange(long deadline, Call call) {
        MemorySegment.copy(call.numbers(), 0, own, ValueLayout.JAVA_LONG, 0, Call.NUMBERS);
        long type = MpiHandles.integer(8);
        session.await(
                call.operation().text,
                deadline,
                request -> Mpi.MPI_Iallgather(
                        own.address(),
                        Call.NUMBERS,
                        type,
                        all.address(),
                        Call.NUMBERS,
                        type,
                        session.communicator(),
                        request));
    }

    private Call read(int rank) {
        long[] numbers = new long[Call.NUMBERS];
        MemorySegment.copy(all, ValueLayout.JAVA_LONG, 8L * Call.NUMBERS * rank, numbers, 0, numbers.length);
        return Call.of(numbers);
    }
}
