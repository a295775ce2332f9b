package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;

/**
 * How {@code gemv_tiles.cuh} multiplies one row with a packed weight of 4 bits. Pure arithmetic.
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

    /** Bytes of all warps' stages. */
    private static final long PACKED_STAGES = WARPS * 5 * ROWS * 144;

    private static final long SCALED_STAGES = WARPS * 4 * ROWS * 176;

    /** Bytes of the sums of a tile. */
    private static final long TILE_BYTES = WARPS * ROWS * Float.BYTES;

    private static final long RESERVED = 1024;
    private static final Architecture LEAST = new Architecture(8, 0);

    /** Elements of a row that have one scale at least. */
    private static final long RUN = 32;

    /** Offsets within a tile are of 32 bits. */
    private static final long MOST_DEPTH = 1 << 28;

    /** Elements of a row that keep all stages of a block's warps busy; shorter rows go faster through dequant_gemv. */
    private static final long PACKED_DEPTH = WARPS * 4 * CHUNK;

    /** A chunk a warp; scaled_gemv takes longer at any depth from there on. */
    private static final long SCALED_DEPTH = WARPS * CHUNK;

    /** Of {@code dequant_gemv_mma}. */
    static PackedMmaGemv of(BlockFormat format, DType dtype, long columns, long depth, DeviceProperties device) {
        return format == BlockFormat.Q4_0 || format == BlockFormat.Q4_K
                ? of("dequant_gemv_mma", PACKED_STAGES, PACKED_DEPTH, dtype, columns, depth, device)
                : none("dequant_gemv_mma", "weights of " + format + "; it takes Q4_0 and Q4_K");
    }

    /**
     * Of {@code scaled_gemv_mma}.
     *
     * @param q the weight's type
     * @param block elements with one scale; the depth, or more, for one a row
     */
    static PackedMmaGemv of(DType q, long block, DType dtype, long columns, long depth, DeviceProperties device) {
        String kernel = "scaled_gemv_mma";
        if (q.bits() != 4) {
            return none(kernel, "weights of " + q + "; it takes 4 bits");
        }
        if (block < depth && (block < RUN || Long.bitCount(block) != 1)) {
            return none(kernel, "blocks of " + block + "; it takes powers of two from " + RUN + " on");
        }
        return of(kernel, SCALED_STAGES, SCALED_DEPTH, dtype, columns, depth, device);
    }

    private static PackedMmaGemv of(
            String kernel, long stages, long least, DType dtype, long columns, long depth, DeviceProperties device) {
        if (dtype != DType.F16 && dtype != DType.BF16) {
            return none(kernel, "x of " + dtype + "; it takes f16 and bf16");
        }
        if (depth % CHUNK != 0 || depth < least || depth > MOST_DEPTH) {
            return none(
                    kernel,
                    "depth " + depth + "; it takes multiples of " + CHUNK + " from " + least + " to " + MOST_DEPTH);
        }
        if (device.architecture().compareTo(LEAST) < 0) {
            return none(kernel, device.architecture() + "; it pays from " + LEAST + " on");
        }
        long tiles = Math.ceilDiv(columns, ROWS);
        long resident = Math.clamp(device.sharedBytesPerMultiprocessor() / (stages + TILE_BYTES + RESERVED), 1, 2);
        long share = Math.ceilDiv(tiles, resident * device.multiprocessors());
        long shared = stages + share * TILE_BYTES;
        if (shared > device.sharedBytesPerBlockOptIn()) {
            return none(kernel, shared + " bytes of shared memory; a block has " + device.sharedBytesPerBlockOptIn());
        }
        LaunchShape shape = LaunchShape.of(SizeMath.toInt(kernel, Math.ceilDiv(tiles, share)), THREADS)
                .withSharedBytes((int) shared)
                .withProgrammatic();
        return new PackedMmaGemv(shape, (int) share, "");
    }

    /** It does not take the product, and why. */
    static PackedMmaGemv none(String kernel, String refusal) {
        return new PackedMmaGemv(LaunchShape.of(1, THREADS), 1, kernel + ": " + refusal);
    }
}
