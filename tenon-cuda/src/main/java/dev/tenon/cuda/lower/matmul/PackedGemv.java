package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;

/**
 * How {@code dequant_gemv.cu} multiplies one row with a packed weight. Pure arithmetic.
 *
 * @param shape of the launch
 * @param slices that a row of the weight is cut into, a warp each
 * @param rows of the weight that a block has
 * @param refusal why the kernel does not take the product; empty where it does
 */
record PackedGemv(LaunchShape shape, int slices, int rows, String refusal) {
    private static final int WARP = 32;
    private static final long SLICE = 2048;
    private static final long LANE = 64;
    private static final int DEPTH = 4;
    private static final int STAGE_MARGIN = 16;
    private static final int MOST_WARPS = 16;
    private static final int RESERVED = 1024;
    private static final int MOST_ROWS = 256;

    static PackedGemv of(BlockFormat format, DType dtype, long columns, long depth, DeviceProperties device) {
        if (dtype == DType.F64) {
            return none("f64, which it does not sum in");
        }
        if (depth == 0 || depth % LANE != 0) {
            return none("depth " + depth + "; it takes multiples of " + LANE + " above 0");
        }
        long slices = Math.ceilDiv(depth, SLICE);
        if (slices > MOST_WARPS) {
            return none("depth " + depth + "; it takes at most " + MOST_WARPS * SLICE);
        }
        long blocks = SLICE / format.elements();
        long stages = DEPTH * (blocks * format.bytes() + STAGE_MARGIN);
        long slice = dtype.bytesFor(SLICE);
        long fixed = slices * (slice + MOST_ROWS * Float.BYTES);
        long memory = device.sharedBytesPerBlockOptIn() - RESERVED - fixed;
        // the registers of a multiprocessor are those of one block
        long groups = Math.max(1, Math.min(MOST_WARPS / slices, memory / (slices * stages)));
        long warps = groups * slices;
        // a wave of equal blocks
        long share = Math.ceilDiv(Math.ceilDiv(columns, device.multiprocessors()), groups) * groups;
        long rows = Math.clamp(share, groups, MOST_ROWS);
        long shared = slices * slice + warps * stages + rows * slices * Float.BYTES;
        if (warps * stages > memory) {
            return none(fixed + warps * stages + " bytes of shared memory; a block has " + (memory + fixed));
        }
        LaunchShape shape = LaunchShape.of(
                        SizeMath.toInt("dequant_matmul", Math.ceilDiv(columns, rows)), (int) warps * WARP)
                .withSharedBytes((int) shared)
                .withProgrammatic();
        return new PackedGemv(shape, (int) slices, (int) rows, "");
    }

    private static PackedGemv none(String refusal) {
        return new PackedGemv(LaunchShape.of(1, WARP), 1, 1, "dequant_gemv: " + refusal);
    }
}
