package dev.tenon.collective.inprocess;

import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.Operation;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.ir.DType;
import org.jspecify.annotations.Nullable;

/**
 * What one rank asks for.
 *
 * @param dtype the element type, the same on every rank
 * @param length elements of the whole vector, the same on every rank
 * @param op the reduction; null for operations without one
 * @param root the rank that others copy from; -1 for operations without one
 */
record Call(
        Operation operation,
        HostBuffer source,
        HostBuffer target,
        DType dtype,
        long length,
        @Nullable ReduceOp op,
        int root) {
    private static final HostBuffer NOTHING = HostBuffer.of(new float[0]);
    static final Call BARRIER = new Call(Operation.BARRIER, NOTHING, NOTHING, DType.F32, 0, null, -1);

    boolean agrees(Call other) {
        return operation == other.operation
                && dtype == other.dtype
                && length == other.length
                && op == other.op
                && root == other.root;
    }

    /** Whether one of two ranks writes where the other reads or writes. */
    boolean meets(Call other) {
        return target.overlaps(other.target) || source.overlaps(other.target) || target.overlaps(other.source);
    }

    /** Such as {@code allReduce of 5 f32, sum}. */
    @Override
    public String toString() {
        return operation
                + (operation == Operation.BARRIER ? "" : " of " + length + " " + dtype)
                + (op == null ? "" : ", " + op)
                + (root < 0 ? "" : ", root " + root);
    }
}
