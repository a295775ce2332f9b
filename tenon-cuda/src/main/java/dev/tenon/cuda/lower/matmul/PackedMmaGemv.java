package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;

/**
 * How {@code dequant_gemv_mma.cu} multiplies one row with a packed weight. Pure arithmetic.
 *
 * @param shape of the launch
 * @param share tiles of 16 rows of the weight that a block has
 * @param refusal why the kernel does not take the product; empty where it does
 */
record PackedMmaGemv(LaunchShape shape, int share, String refusal) {
    private static final int THREADS = 256;
    private static final int WARPS = 8;
    private static final long ROWS = 16;
    private static final long CHUNK = 256;
    private static final long STAGE_BYTES = WARPS * 5 * ROWS * 144;

    /** Bytes of the sums of a tile. */
    private static final long TILE_BYTES = WARPS * ROWS * Float.BYTES;

    private static final long RESERVED = 1024;
    private static final Architecture LEAST = new Architecture(8, 0);

    /** Chunks of a row that keep all stages of a block's warps busy; shorter rows go faster through dequant_gemv. */
    private static final long LEAST_DEPTH = WARPS * 4 * CHUNK;

    static PackedMmaGemv of(BlockFormat format, DType dtype, long columns, long depth, DeviceProperties device) {
        if (format != BlockFormat.Q4_0 && format != BlockFormat.Q4_K) {
            return none("weights of " + format + "; it takes Q4_0 and Q4_K");
        }
        if (dtype != DType.F16 && dtype != DType.BF16) {
            return none("x of " + dtype + "; it takes f16 and bf16");
        }
        if (depth % CHUNK != 0 || depth < LEAST_DEPTH) {
            return none("depth " + depth + "; it takes multiples of " + CHUNK + " from " + LEAST_DEPTH + " on");
        }
        if (device.architecture().compareTo(LEAST) < 0) {
            return none(device.architecture() + "; it pays from " + LEAST + " on");
        }
        long tiles = Math.ceilDiv(columns, ROWS);
        long resident = Math.clamp(device.sharedBytesPerMultiprocessor() / (STAGE_BYTES + TILE_BYTES + RESERVED), 1, 2);
        long share = Math.ceilDiv(tiles, resident * device.multiprocessors());
        long shared = STAGE_BYTES + share * TILE_BYTES;
        if (shared > device.sharedBytesPerBlockOptIn()) {
            return none(shared + " bytes of shared memory; a block has " + device.sharedBytesPerBlockOptIn());
        }
        LaunchShape shape = LaunchShape.of(SizeMath.toInt("dequant_matmul", Math.ceilDiv(tiles, share)), THREADS)
                .withSharedBytes((int) shared)
                .withProgrammatic();
        return new PackedMmaGemv(shape, (int) share, "");
    }

    private static PackedMmaGemv none(String refusal) {
        return new PackedMmaGemv(LaunchShape.of(1, THREADS), 1, "dequant_gemv_mma: " + refusal);
    }
}
