package dev.tenon.cpu.norm;

import dev.tenon.core.ir.DType;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.machine.Place;
import java.lang.foreign.MemorySegment;

/**
 * Parts of a softmax over a block of a row, through a worker's workspace.
 *
 * @param dtype of the row: f32, f16 or bf16
 */
record SoftmaxBlocks(DType dtype) {
    /** Where a block lies as f32 in the workspace, and where what is made of it. */
    static final long X_AT = 0;

    static final long Y_AT = FloatRows.BLOCK_BYTES;
    /** Of the workspace that both take. */
    static final long BYTES = 2 * FloatRows.BLOCK_BYTES;

    /** Exponentials against the row's largest element, to the workspace. @return their sum */
    double exponentials(Loops loops, MemorySegment x, long from, int n, float max, MemorySegment workspace) {
        MemorySegment block = FloatRows.segment(dtype, x, from, n, workspace, X_AT);
        return loops.expSum(block, FloatRows.offset(dtype, from, X_AT), max, workspace, Y_AT, n);
    }

    /** Elements less the row's largest, and the logarithm of its sum added with its sign turned, to the result. */
    void logarithms(
            Loops loops,
            MemorySegment x,
            MemorySegment y,
            long from,
            int n,
            NormFactors factors,
            MemorySegment workspace) {
        MemorySegment block = FloatRows.segment(dtype, x, from, n, workspace, X_AT);
        Place source = new Place(block, FloatRows.offset(dtype, from, X_AT));
        boolean direct = dtype == DType.F32;
        Place target = direct ? new Place(y, 4 * from) : new Place(workspace, Y_AT);
        loops.normalise(source, target, n, factors, Place.NONE, Place.NONE);
        if (!direct) {
            Convert.store(dtype, workspace, Y_AT, y, from, n);
        }
    }
}
