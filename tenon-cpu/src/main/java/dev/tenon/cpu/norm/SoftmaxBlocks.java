package dev.tenon.cpu.norm;

import dev.tenon.core.ir.DType;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.memory.Place;
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

    /**
     * Elements less the row's largest, and the logarithm of its sum added with its sign turned, to the result.
     *
     * @param stream whether that is too large for the caches
     */
    void logarithms(
            Loops loops,
            MemorySegment x,
            MemorySegment y,
            long from,
            int n,
            NormFactors factors,
            boolean stream,
            MemorySegment workspace) {
        MemorySegment block = FloatRows.segment(dtype, x, from, n, workspace, X_AT);
        Place source = new Place(block, FloatRows.offset(dtype, from, X_AT));
        boolean direct = dtype == DType.F32;
        Place target = direct ? new Place(y, 4 * from) : new Place(workspace, Y_AT);
        if (direct && stream) {
            loops.normaliseStreaming(source, target, n, factors, Place.NONE, Place.NONE);
        } else {
            loops.normalise(source, target, n, factors, Place.NONE, Place.NONE);
        }
        if (!direct) {
            Convert.store(dtype, workspace, Y_AT, y, from, n);
        }
    }

    /**
     * Exponentials times a factor, to the result.
     *
     * @param exponentials where they are as f32, which may be the result itself
     */
    void scaled(Loops loops, Place exponentials, MemorySegment y, long from, int n, float factor, boolean stream) {
        if (dtype == DType.F32 && stream) {
            NormFactors factors = new NormFactors(0, factor, 0);
            loops.normaliseStreaming(exponentials, new Place(y, 4 * from), n, factors, Place.NONE, Place.NONE);
        } else if (dtype == DType.F32) {
            loops.affine(exponentials.memory(), exponentials.offset(), y, 4 * from, factor, 0, n);
        } else {
            MemorySegment memory = exponentials.memory();
            loops.affine(memory, exponentials.offset(), memory, exponentials.offset(), factor, 0, n);
            Convert.store(dtype, memory, exponentials.offset(), y, from, n);
        }
    }
}
