package dev.tenon.cuda.lower.convolution;

import dev.tenon.cuda.port.DeviceProperties;
import java.util.List;
import java.util.Objects;

/**
 * How {@code conv_wgmma} cuts a convolution: the tile of results per block, and the blocks of a cluster that share a
 * tile's sums. Chosen by a model of time ({@link BlockTimes}).
 *
 * @param parts of k, side by side in a cluster
 * @param steps of 128 bytes of k, per part
 * @param tiles of all results
 */
record WarpgroupTiles(Form form, int parts, long steps, long tiles) {
    static final int THREADS = 288;
    static final int ROWS = 128;
    static final int LINE = 128; // bytes of k, per step and row
    private static final int BOUNDARY = 1024;
    private static final int MOST_PARTS = 8;

    /**
     * Microseconds of a cluster's launch, which waits for the end of the one before it, and of its meetings; then of a
     * sum of another block.
     */
    private static final double MEETING = 6;

    private static final double SHARED = 2e-5;

    /**
     * A kernel of {@code conv_wgmma.cu}.
     *
     * @param columns output channels of a tile
     * @param stages steps in shared memory
     * @param times of blocks
     */
    record Form(int columns, int stages, BlockTimes times) {
        String entry() {
            return "conv_wgmma_" + ROWS + "x" + columns;
        }

        int sharedBytes() {
            return BOUNDARY + LINE * (ROWS + columns) * stages;
        }
    }

    /**
     * Figures of an H200. Two blocks of 64 columns fetch 48 KiB per step at the 64 bytes per cycle that a
     * multiprocessor has of L2; the wider ones are as fast as they multiply.
     */
    static final List<Form> FORMS = List.of(
            new Form(64, 4, new BlockTimes(2, 1.6, 0.22, 0.43)),
            new Form(128, 3, new BlockTimes(2, 3.0, 0.36, 0.62)),
            new Form(256, 4, new BlockTimes(1, 4.0, 0.62, 0.62)));

    /**
     * What the fastest cut depends on.
     *
     * @param rows positions of all images
     * @param steps of 128 bytes of k
     */
    record Sizes(long rows, long outputs, long steps) {}

    /**
     * The fastest cut.
     *
     * @param rows positions of all images
     * @param outputs channels
     * @param steps of 128 bytes of k
     */
    static WarpgroupTiles of(long rows, long outputs, long steps, DeviceProperties device) {
        WarpgroupTiles best = null;
        double shortest = Double.POSITIVE_INFINITY;
        for (Form form : FORMS) { // in loops rather than streams, which a young JVM runs slowly
            long tiles = Math.ceilDiv(rows, (long) ROWS) * Math.ceilDiv(outputs, (long) form.columns);
            long resident = (long) form.times.resident() * device.multiprocessors();
            for (int parts = 1; parts <= MOST_PARTS; parts *= 2) {
                if (parts > 1 && (parts > steps || tiles * parts > resident)) {
                    break;
                }
                WarpgroupTiles cut = new WarpgroupTiles(form, parts, Math.ceilDiv(steps, (long) parts), tiles);
                double micros = cut.microseconds(device);
                if (best == null || micros < shortest) {
                    best = cut;
                    shortest = micros;
                }
            }
        }
        return Objects.requireNonNull(best, "there are forms");
    }

    /** By the model. */
    double microseconds(DeviceProperties device) {
        double gathered = parts > 1 ? MEETING + SHARED * ROWS * form.columns : 0;
        return form.times.microseconds((double) tiles * parts, steps, device.multiprocessors()) + gathered;
    }

    /** {@code conv_wgmma_128x64 in 4 parts}. */
    String text() {
        return form.entry() + (parts > 1 ? " in " + parts + " parts" : "");
    }
}
