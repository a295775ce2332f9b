package dev.tenon.cuda.lower.matmul;

import java.util.List;

/**
 * A tile that {@code matmul_parts} makes.
 *
 * @param rows of results
 * @param columns of results
 * @param stages steps of 64 elements in shared memory
 * @param step microseconds of a step
 */
record PartsTile(int rows, int columns, int stages, double step) {
    static final PartsTile SMALLEST = new PartsTile(64, 64, 8, 0.16);

    static final List<PartsTile> ALL = List.of(SMALLEST, new PartsTile(128, 64, 6, 0.21));

    private static final int LINE = 128; // bytes of a step, per row and column
    private static final int BOUNDARY = 1024;
    private static final int PADDING = 8;
    private static final int PRODUCER = 32; // threads

    /** Threads of a block: two for each row, and those that fetch. */
    int threads() {
        return 2 * rows + PRODUCER;
    }

    /** Dynamic shared memory of a block: stages, and sums in f32. */
    int sharedBytes() {
        return BOUNDARY + stages * (rows + columns) * LINE + rows * (columns + PADDING) * Float.BYTES;
    }

    /** {@code 64x128}. */
    @Override
    public String toString() {
        return rows + "x" + columns;
    }
}
