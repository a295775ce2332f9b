package dev.tenon.cuda.lower.convolution;

import java.util.List;
import java.util.Objects;

/**
 * How a convolution on tensor cores is cut: the tile of results per block, and the parts of k whose sums the last
 * block of a tile adds up. Chosen by a model of time: blocks go in rounds of as many as are resident; a round takes a
 * fixed time and one for each step, which grows with the blocks that share a multiprocessor; sums that go through the
 * workspace take time per element and part. The figures are those of an H200 in f16, in microseconds.
 *
 * @param splits parts of k
 * @param steps of 128 bytes of k, per part
 */
record ConvTiles(Form form, long splits, long steps) {
    /** Parts of k at most: each is written and read once more. */
    private static final long[] SPLITS = {1, 2, 3, 4, 6, 8, 12, 16};

    /** Cells of a window that are listed in shared memory. */
    static final long MOST_CELLS = 1024;

    private static final int CELL_BYTES = 16;
    private static final int ROW_BYTES = 128; // of k, per step and row
    /** Microseconds per result and part that goes through the workspace. */
    private static final double GATHERED = 1.1e-4;

    /**
     * A kernel of {@code conv_mma.cu}.
     *
     * @param rows positions of a tile
     * @param columns output channels of a tile
     * @param stages steps in shared memory
     * @param times of blocks
     */
    record Form(int rows, int columns, int threads, int stages, BlockTimes times) {
        String entry() {
            return "conv_mma_" + rows + "x" + columns;
        }

        /** @param cells of a window, at most {@link #MOST_CELLS} */
        int sharedBytes(long cells) {
            int steps = stages * (rows + columns) * ROW_BYTES;
            int sums = Math.max((rows + 4) * columns, rows * (columns + 8)) * Float.BYTES;
            return Math.max(steps, sums) + ((int) cells + 1) * CELL_BYTES;
        }
    }

    private static final List<Form> FORMS = List.of(
            new Form(128, 128, 256, 3, new BlockTimes(2, 6.9, 0.88, 1.42)),
            new Form(128, 64, 256, 3, new BlockTimes(2, 6.3, 0.5, 0.66)),
            new Form(64, 64, 128, 4, new BlockTimes(3, 4.9, 0.38, 0.62)),
            new Form(128, 32, 128, 3, new BlockTimes(3, 4.8, 0.39, 0.77)));

    /**
     * The sizes of a phase.
     *
     * @param rows positions of all images
     * @param outputs channels per group
     * @param groups of channels
     * @param cells of a window
     * @param chunks of 16 bytes along k, per cell
     */
    record Problem(long rows, long outputs, long groups, long cells, long chunks) {}

    /**
     * The fastest cut.
     *
     * @param multiprocessors of the device
     * @param sharedBytes that a block may have at most
     */
    static ConvTiles of(Problem problem, int multiprocessors, int sharedBytes) {
        long steps = Math.ceilDiv(problem.cells * problem.chunks, ROW_BYTES / 16);
        ConvTiles best = null;
        double shortest = Double.POSITIVE_INFINITY;
        for (Form form : FORMS) { // in loops rather than streams, which a young JVM runs slowly
            if (form.sharedBytes(problem.cells) > sharedBytes) {
                continue;
            }
            for (long splits : SPLITS) {
                if (splits > steps) {
                    break;
                }
                ConvTiles cut = new ConvTiles(form, splits, Math.ceilDiv(steps, splits));
                double micros = cut.microseconds(problem, multiprocessors);
                if (micros < shortest) {
                    best = cut;
                    shortest = micros;
                }
            }
        }
        return Objects.requireNonNull(best, "a tile fits into every device's shared memory");
    }

    /** By the model. */
    double microseconds(Problem problem, int multiprocessors) {
        double blocks = (double) tiles(problem) * problem.groups * splits;
        double gathered = splits > 1 ? GATHERED * splits * form.rows * form.columns : 0;
        return form.times.microseconds(blocks, steps, multiprocessors) + gathered;
    }

    /** Blocks per group and part. */
    long tiles(Problem problem) {
        return Math.ceilDiv(problem.rows, form.rows) * Math.ceilDiv(problem.outputs, form.columns);
    }
}
