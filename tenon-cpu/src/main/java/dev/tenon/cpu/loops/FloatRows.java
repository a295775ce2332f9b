package dev.tenon.cpu.loops;

import dev.tenon.core.ir.DType;
import java.lang.foreign.MemorySegment;

/**
 * Consecutive elements of f32 or a short float type, seen as f32 a block at a time: where they lie, or through a block
 * of workspace.
 */
public final class FloatRows {
    /**
     * Elements of a block: 16 KiB of f32, a third of a first-level cache; f32 sums of a block keep their accuracy,
     * blocks are summed in double.
     */
    public static final int BLOCK = 4096;

    public static final long BLOCK_BYTES = 4L * BLOCK;

    private FloatRows() {}

    /** The memory that holds a block as f32, after loading it where need be. */
    public static MemorySegment segment(
            DType dtype, MemorySegment x, long from, int n, MemorySegment workspace, long workspaceOffset) {
        if (dtype == DType.F32) {
            return x;
        }
        Convert.load(dtype, x, from, workspace, workspaceOffset, n);
        return workspace;
    }

    /** The offset in that memory. */
    public static long offset(DType dtype, long from, long workspaceOffset) {
        return dtype == DType.F32 ? 4 * from : workspaceOffset;
    }
}
