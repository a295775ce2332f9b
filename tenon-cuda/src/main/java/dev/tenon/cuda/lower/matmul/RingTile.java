package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import java.util.List;

/**
 * A tile of 128 rows that {@code product_ring.cuh} makes, and a model of its time in microseconds.
 *
 * @param columns of the tile
 * @param stages steps of 128 bytes of k in shared memory
 * @param step of the time
 * @param tile between two tiles
 * @param last of the last tile's results
 */
record RingTile(int columns, int stages, double step, double tile, double last) {
    static final int ROWS = 128;

    /** Columns whose sums in f32 a thread has registers to keep. */
    private static final int MOST_KEPT = 192;

    /** Threads of a block. */
    static final int THREADS = 384;

    /** Of products whose results are stored beside the products of the next tile, as measured on an H200. */
    static final List<RingTile> STORED_BESIDE = List.of(
            new RingTile(256, 4, 0.66, 2.5, 2.5),
            new RingTile(192, 5, 0.50, 2.2, 2.0),
            new RingTile(128, 6, 0.358, 2.0, 1.5));

    private static final int UNIT = 32; // columns that are stored beside a step
    private static final int WIDEST = 256; // columns of the tile whose steps have time for two units
    private static final int LINE = 128; // bytes of k a step, per row and column
    private static final int BOUNDARY = 1024;

    int sharedBytes() {
        return BOUNDARY + stages * (ROWS + columns) * LINE;
    }

    /** Elements of k a step. */
    static int step(DType dtype) {
        return LINE / dtype.bytes();
    }

    /** Whether there are kernels of it for a type whose results are stored beside the next products. */
    boolean takes(DType dtype) {
        return dtype != DType.F32 || columns <= MOST_KEPT;
    }

    /** Steps of a sum, padded to as many as results take to store beside them. */
    int steps(DType dtype, long k) {
        int unit = columns == WIDEST ? 2 * UNIT : UNIT;
        return Math.max((int) Math.ceilDiv(k, (long) step(dtype)), columns / unit + 1);
    }

    /** Of so many tiles one after the other. */
    double microseconds(long tiles, int steps) {
        return tiles * (steps * step + tile) + last;
    }
}
