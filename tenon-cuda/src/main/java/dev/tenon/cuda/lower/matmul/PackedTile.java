package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;

/**
 * What {@code packed_tile.cuh} needs for a way of packing a weight. Pure arithmetic.
 *
 * @param run elements with one factor
 * @param offsets whether runs have offsets
 * @param chunk elements of a row that are fetched at once
 * @param chunkBytes their bytes
 * @param misaligned at most so many bytes from a boundary of 16 bytes to a chunk
 */
record PackedTile(int run, boolean offsets, int chunk, int chunkBytes, int misaligned) {
    /** Rows of x and of the weight of a block. */
    private static final long ROWS = 128;

    private static final long COLUMNS = 64;
    private static final int STAGES = 3;
    private static final int STEP = 64;
    private static final int THREADS = 256;
    private static final int PIECE = 16;

    /** Most elements of a row: offsets within a tile are of 32 bits. */
    private static final long MOST_DEPTH = 1 << 24;

    private static final Architecture LEAST = new Architecture(8, 0);

    static PackedTile of(BlockFormat format) {
        int chunk = format.elements() == 256 ? 256 : STEP;
        boolean sixteen = format == BlockFormat.Q2_K || format == BlockFormat.Q3_K || format == BlockFormat.Q6_K;
        boolean offsets = switch (format) {
            case Q4_1, Q5_1, Q2_K, Q4_K, Q5_K -> true;
            case Q4_0, Q5_0, Q8_0, Q3_K, Q6_K -> false;
        };
        return new PackedTile(
                sixteen ? 16 : 32,
                offsets,
                chunk,
                format.bytes() * (chunk / format.elements()),
                format.bytes() % PIECE == 0 ? 0 : 14);
    }

    /** Of integers of 8 or 4 bits. */
    static PackedTile of(int bits, int run) {
        return new PackedTile(run, false, STEP, STEP * bits / 8, bits == 8 ? 0 : 8);
    }

    /** Why a device does not take such products; empty where it does. */
    String refusal(long depth, DeviceProperties device) {
        if (device.architecture().compareTo(LEAST) < 0) {
            return device.architecture() + "; it takes " + LEAST + " on";
        }
        if (depth > MOST_DEPTH) {
            return "depth " + depth + "; it takes up to " + MOST_DEPTH;
        }
        return sharedBytes() > device.sharedBytesPerBlockOptIn()
                ? sharedBytes() + " bytes of shared memory; a block has " + device.sharedBytesPerBlockOptIn()
                : "";
    }

    /** The launch for so many rows of x and of the weight. */
    LaunchShape shape(String op, long rows, long columns) {
        return LaunchShape.of(
                        SizeMath.toInt(op, Math.ceilDiv(columns, COLUMNS)),
                        (int) Math.min(Math.ceilDiv(rows, ROWS), GridLimits.YZ),
                        1,
                        THREADS)
                .withSharedBytes(sharedBytes())
                .withProgrammatic();
    }

    /** The size of {@code PackedTile::Shared}. */
    private int sharedBytes() {
        int pieces = (chunkBytes + misaligned + PIECE - 1) / PIECE;
        int raw = (chunk == STEP ? STAGES : 2) * (int) COLUMNS * (pieces | 1) * PIECE;
        int factors = 2 * (STEP / run) * (int) COLUMNS * Float.BYTES;
        int halves = STAGES * (int) ROWS * STEP * Short.BYTES + 2 * (int) COLUMNS * STEP * Short.BYTES;
        return halves + factors + (offsets ? factors : (int) COLUMNS * Float.BYTES) + raw;
    }

    String tier() {
        return "tiles of " + ROWS + " x " + COLUMNS;
    }
}
