package dev.tenon.cuda.lower.matmul;

/**
 * A tile of 128 rows that {@code product_ring.cuh} makes, and a model of its time in microseconds.
 *
 * @param columns of the tile
 * @param stages steps of 64 elements in shared memory
 * @param step of the time
 * @param tile between two tiles
 * @param last of the last tile's results
 */
record RingTile(int columns, int stages, double step, double tile, double last) {
    static final int ROWS = 128;
    private static final int LINE = 128; // bytes of a step, per row and column
    private static final int BOUNDARY = 1024;

    int sharedBytes() {
        return BOUNDARY + stages * (ROWS + columns) * LINE;
    }

    /** Of so many tiles one after the other. */
    double microseconds(long tiles, int steps) {
        return tiles * (steps * step + tile) + last;
    }
}
