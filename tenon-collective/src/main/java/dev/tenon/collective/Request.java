package dev.tenon.collective;

import dev.tenon.core.error.CollectiveMismatchException;
import dev.tenon.core.error.Require;
import dev.tenon.core.ir.DType;
import org.jspecify.annotations.Nullable;

/**
 * What one rank asks of the others, in a form that can be sent to them. For communicators whose transport does not look
 * whether ranks mean the same: all tell each other before elements move.
 *
 * @param operation null for a call that was refused
 * @param dtype the element type, the same on every rank
 * @param length elements of the whole vector, the same on every rank
 * @param op the reduction; null for operations without one
 * @param root the rank that others copy from; -1 for operations without one
 */
@SuppressWarnings("EnumOrdinal") // the ranks of a job run one build
public record Request(
        @Nullable Operation operation,
        DType dtype,
        long length,
        @Nullable ReduceOp op,
        int root) {
    public Request {
        Require.nonNull(dtype, "dtype");
    }

    /** How many numbers a request is sent as. */
    public static final int NUMBERS = 5;

    /** A call that was wrong in itself: the others need not wait for it. */
    public static final Request REFUSED = new Request(null, DType.F32, 0, null, -1);

    public static final Request BARRIER = new Request(Operation.BARRIER, DType.F32, 0, null, -1);

    /** What is sent. */
    public long[] numbers() {
        return new long[] {
            operation == null ? -1 : operation.ordinal(), dtype.ordinal(), length, op == null ? -1 : op.ordinal(), root
        };
    }

    /** What was sent as these numbers. */
    public static Request of(long[] numbers) {
        Require.nonNull(numbers, "numbers");
        return new Request(
                numbers[0] < 0 ? null : Operation.values()[(int) numbers[0]],
                DType.values()[(int) numbers[1]],
                numbers[2],
                numbers[3] < 0 ? null : ReduceOp.values()[(int) numbers[3]],
                (int) numbers[4]);
    }

    /** @throws CollectiveMismatchException when another rank asks for something else; nothing must have been moved */
    public void requireSame(int rank, int other, Request theirs) {
        Require.nonNull(theirs, "theirs");
        if (!equals(theirs)) {
            throw new CollectiveMismatchException(name() + ": ranks disagree: rank " + rank + " asks for " + this
                    + "; rank " + other
                    + (theirs.operation == null ? "'s call was refused" : " asks for " + theirs)
                    + "; every rank must ask for the same (nothing was moved)");
        }
    }

    /** The name of the method; of a call that was refused, that. */
    public String name() {
        return operation == null ? "refused" : operation.toString();
    }

    /** Such as {@code allReduce of 5 f32, sum}. */
    @Override
    public String toString() {
        return name()
                + (operation == Operation.BARRIER ? "" : " of " + length + " " + dtype)
                + (op == null ? "" : ", " + op)
                + (root < 0 ? "" : ", root " + root);
    }
}
